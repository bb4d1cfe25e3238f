import type { ClusterBackups } from '../backup/cluster-backups.ts';
import type { KubeClient } from '../kube/client.ts';
import type { ControlPlane } from '../cli/control-plane.ts';
import type { ForwardedPort, PodPort } from '../cli/port-forward.ts';
import type { OtherControlPlane } from './other-control-plane.ts';
import type { ImportRecord } from './record.ts';

/** What an import works with. */
export interface ImportContext {
  readonly client: Pick<KubeClient, 'find' | 'list' | 'create' | 'mergePatch' | 'delete'>;
  readonly namespace: string;
  readonly cluster: string;
  readonly controlPlane: ControlPlane;
  readonly other: OtherControlPlane;
  readonly record: ImportRecord | undefined;
  /** A snapshot that the user names, instead of one that is taken. */
  readonly snapshot: string | undefined;
  /** The issuer of service account tokens that the user names. */
  readonly issuer: string | undefined;
  readonly forward: (port: PodPort) => Promise<ForwardedPort>;
  readonly withBackups: <T>(use: (backups: ClusterBackups) => Promise<T>) => Promise<T>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
