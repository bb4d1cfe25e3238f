import { checkBareSnapshot, readBareSnapshot } from '../bare-snapshot.ts';
import type { ClusterBackups } from '../cluster-backups.ts';
import { StoreError } from '../store/store-error.ts';
import type { WorkContext } from '../../engine/tasks/background-work.ts';
import type { PreparedBackup, RestoreSource } from './prepared-backup.ts';
import { readTimed } from './read-timed.ts';
import { BackupNotFound, refuseNewerEtcd } from './refusals.ts';

/**
 * Checks a snapshot without a manifest. It reads the whole snapshot also in a process that continues a restore, because
 * nothing else shows the hash that the pods of the restore expect.
 * @throws BackupNotFound; StoreError; any other error for an unusable snapshot
 */
export async function prepareBareSnapshot(
  name: string,
  { clock, owner, etcdVersion }: RestoreSource,
  backups: ClusterBackups,
  { signal, report, moved }: WorkContext,
): Promise<PreparedBackup> {
  report(`reading snapshot ${name}`);
  const object = await backups.bareSnapshot(name, signal).catch((error: unknown) => {
    if (!(error instanceof StoreError) || error.reason !== 'ObjectNotFound') throw error;
    throw new BackupNotFound(
      `the bucket contains no snapshot ${name} of ${owner.namespace}/${owner.cluster}: check its name, etcd.restore.from, and the bucket in the Secret`,
    );
  });
  const stream = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of readTimed(object.stream(), `read snapshot ${name}`, { clock, signal })) {
      moved?.(chunk.length);
      yield chunk;
    }
  };
  const snapshot = await checkBareSnapshot(name, { ...object, stream }, (facts) => {
    if (facts.etcdVersion !== undefined) refuseNewerEtcd(`snapshot ${name}`, facts.etcdVersion, etcdVersion);
  });
  const read = async function* (store: ClusterBackups, stop: AbortSignal): AsyncGenerator<Uint8Array> {
    yield* readBareSnapshot(name, await store.bareSnapshot(name, stop), snapshot);
  };
  return { backup: name, snapshot, read, encryptionKeys: [] };
}
