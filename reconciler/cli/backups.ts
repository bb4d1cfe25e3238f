import { findingControlPlane, readingStore } from './access.ts';
import { backupId, type BackupOwner } from '../../constructs/cluster/backup-names.ts';
import { type BackupEntry, describeBackups, shapeOfBackups } from './backup-table.ts';
import { clusterArgument, type Command, otherClusterOption, type Session } from './command.ts';
import type { ClusterBackups, StoredBackup } from '../backup/cluster-backups.ts';
import { readFolder } from '../backup/own-backups.ts';
import { incarnationOf } from '../backup/ownership.ts';
import { settleAll } from '../kube/concurrency.ts';
import { messageOf } from '../kube/error-message.ts';
import { findControlPlane } from './control-plane.ts';
import { outputOf, outputOption, printed } from './output.ts';
import { withBackups } from './store.ts';

/** Arguments of `hcp backups`. */
interface ListRequest {
  readonly cluster: string;
  readonly from: BackupOwner | undefined;
  readonly output: string | undefined;
}

/** Lists the content of the bucket, which it reads from the bucket itself and not from a status. */
export const backups: Command = {
  name: 'backups',
  examples: [
    ['backups prod -n team-a', 'the backups of a control plane'],
    ['backups prod --from team-b/old', 'the backups of another cluster in the same bucket'],
    ['backups prod -o name', 'names alone, for a script'],
  ],
  usage: 'CLUSTER [--from NAMESPACE/CLUSTER] [-o json|yaml|name]',
  summary: 'Lists the backups in the bucket.',
  options: {
    from: {
      type: 'string',
      value: 'NAMESPACE/CLUSTER',
      meaning: 'list the backups of another cluster in the same bucket',
    },
    output: outputOption({ values: 'name', meaning: 'names of backups alone' }),
  },
  access: [findingControlPlane, ...readingStore],
  prepare(given) {
    const request = readListRequest(given);
    return (session) => listBackups(session, request);
  },
};

/** @throws UsageError */
export function readListRequest(given: Parameters<Command['prepare']>[0]): ListRequest {
  return {
    cluster: clusterArgument(given),
    from: otherClusterOption(given, 'from'),
    output: outputOf(given, ['name']),
  };
}

async function listBackups(session: Session, { cluster, from, output }: ListRequest): Promise<void> {
  const controlPlane = await findControlPlane(session, cluster);
  const listed = await withBackups(session, controlPlane, from, async (store) => {
    const { backups: complete, unfinished, bareSnapshots } = await store.list();
    const { foreign } =
      from === undefined ? await readFolder(store, incarnationOf(controlPlane.object)) : { foreign: [] };
    const outcomes = await settleAll(complete, requestsAtOnce, (name) => readEntry(store, name));
    return {
      unfinished,
      foreign,
      bareSnapshots,
      entries: outcomes.map((outcome, index): BackupEntry =>
        outcome.status === 'fulfilled'
          ? outcome.value
          : { kind: 'unreadable', name: complete[index]!, problem: messageOf(outcome.reason) },
      ),
    };
  });

  const owner = from ?? { namespace: session.namespace, cluster: controlPlane.cluster };
  const { terminal, now } = session;
  const lines =
    output === 'name'
      ? listed.entries.map(({ name }) => backupId(name))
      : printed(output, shapeOfBackups(owner, listed), () => describeBackups(owner, listed, now(), terminal));
  for (const line of lines) terminal.print(line);
}

const requestsAtOnce = 8;

async function readEntry(store: ClusterBackups, name: StoredBackup): Promise<BackupEntry> {
  const manifest = await store.manifest(name);
  const verification = name.isVerified ? await store.verification(name) : undefined;
  return { kind: 'backup', name, manifest, verification };
}
