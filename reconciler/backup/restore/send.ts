import { etcdMemberHost } from '../../../constructs/cluster/names.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import type { WorkContext } from '../../engine/tasks/background-work.ts';
import { etcdCredentials } from '../../etcd/access.ts';
import { systemClock } from '../../kube/clock.ts';
import type { Reader } from '../../clusters/management/view.ts';
import { amount, withBackupsOf } from './prepare.ts';
import type { PreparedBackup, RestoreSource } from './prepared-backup.ts';
import { pushSnapshot } from '../receiver/push.ts';

export interface SendOptions {
  readonly cluster: { readonly name: string; readonly namespace: string };
  readonly reader: Reader;
  readonly ordinal: number;
  /** Address of the waiting pod. */
  readonly address: string;
  readonly source: RestoreSource;
  readonly prepared: PreparedBackup;
}

/** Sends the backup from the store to the pod that restores one member. */
export async function sendBackup(
  { cluster, reader, ordinal, address, source, prepared: { snapshot, read } }: SendOptions,
  { signal, report, moved }: WorkContext,
): Promise<void> {
  const receiver = { address, port: ports.etcdClient, serverName: etcdMemberHost(cluster, ordinal) };
  const { sizeBytes } = snapshot;
  await withBackupsOf(source, (backups) =>
    pushSnapshot(receiver, read(backups, signal), {
      sizeBytes,
      credentials: etcdCredentials(cluster.name, reader),
      clock: systemClock,
      signal,
      onProgress: (bytes, chunkBytes) => {
        report(`${amount(bytes)} of ${amount(sizeBytes)} sent`);
        moved?.(chunkBytes);
      },
    }),
  );
}
