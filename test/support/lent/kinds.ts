import type { LookupFunction } from 'node:net';
import { inject } from 'vitest';
import { installAddon } from '../../tools/testbed/addons.ts';
import { lookupFor } from '../../tools/testbed/gateway-address.ts';
import { type Instance, instanceFrom } from '../../tools/testbed/instance.ts';
import { gatewayName } from '../../tools/testbed/traefik-objects.ts';
import { single } from '../workbench.ts';

/** A control plane that files lend to each other. */
export interface LentKind {
  readonly namespace: string;
  /** Name of its Cluster. */
  readonly cluster: string;
  readonly spec: object;
  /** Workers that have joined it. */
  readonly workers: number;
  /** What the testbed needs for it. By default nothing. */
  readonly prepare?: (instance: Instance) => Promise<unknown>;
  /** Resolves the hosts of its endpoints. By default this machine's resolver does. */
  readonly lookup?: () => LookupFunction;
}

/** The control planes that are lent, one of each kind at a time. */
export const lentKinds = {
  plain: { namespace: 'lent-plain', cluster: 'c1', spec: single, workers: 0 },
  'gateway with 2 workers': {
    namespace: 'lent-gateway',
    cluster: 'hosted',
    spec: { ...single, exposure: { gateway: gatewayName } },
    workers: 2,
    prepare: (instance) => installAddon(instance, 'traefik', () => {}),
    lookup: () => lookupFor(instanceFrom(process.env, inject('testbed'))),
  },
} as const satisfies Readonly<Record<string, LentKind>>;

export type LentName = keyof typeof lentKinds;
