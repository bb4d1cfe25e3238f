import { clusterApiCore, type Provider } from './components.ts';
import type { Machine } from './machine.ts';

/** What a management cluster consists of before the provider is installed. */
export interface Platform {
  /** Its core of Cluster API. */
  readonly core: Provider;
  /** Gives its machine other programs and images than the testbed's own, before anything starts on it. */
  readonly equip?: (machine: Machine) => Promise<void>;
}

/** The versions that most tests use. */
export const newestPlatform: Platform = { core: clusterApiCore };
