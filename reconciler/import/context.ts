import type { ClusterBackups } from '../backup/cluster-backups.ts';
import type { KubeClient } from '../kube/client.ts';
import type { ControlPlane } from '../cli/control-plane.ts';
import type { SnapshotAccess } from './final-snapshot.ts';
import type { ImportReader } from './observe.ts';
import type { ImportRecord } from './record.ts';

/** What an import works with. */
export interface ImportContext extends ImportReader, Pick<SnapshotAccess, 'forward'> {
  readonly client: Pick<KubeClient, 'find' | 'list' | 'create' | 'mergePatch' | 'delete'>;
  readonly controlPlane: ControlPlane;
  readonly record: ImportRecord | undefined;
  /** A snapshot that the user names, instead of one that is taken. */
  readonly snapshot: string | undefined;
  /** The issuer of service account tokens that the user names. */
  readonly issuer: string | undefined;
  readonly withBackups: <T>(use: (backups: ClusterBackups) => Promise<T>) => Promise<T>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
