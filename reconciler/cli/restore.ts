import { backupId, type BackupName, type BackupOwner } from '../../constructs/cluster/backup-names.ts';
import { nextCommand, spanText } from './format.ts';
import { type Choice, chooseOwnFirst, describeForeign } from '../backup/choose-backup.ts';
import type { ClusterBackups, StoredBackup } from '../backup/cluster-backups.ts';
import { readFolder } from '../backup/own-backups.ts';
import { incarnationOf } from '../backup/ownership.ts';
import { changingControlPlane, findingControlPlane, followingControlPlane, readingStore } from './access.ts';
import { beforeOption, readChoice } from './backup-selector.ts';
import { clusterArgument, type Command, hasSwitch, otherClusterOption, type Session } from './command.ts';
import { type ControlPlane, findLasting } from './control-plane.ts';
import { printRequested } from './follow.ts';
import { confirmLoss, requestRestore, restoreProgress } from './request-restore.ts';
import { withBackups } from './store.ts';

/** Arguments of `hcp restore`. */
interface RestoreRequest {
  readonly cluster: string;
  readonly choice: Choice;
  /** Owner of the backup; the cluster itself when unset. */
  readonly from: BackupOwner | undefined;
  readonly yes: boolean;
  readonly wait: boolean;
}

/** Replaces all data with a backup, with the field that users can also set. */
export const restore: Command = {
  name: 'restore',
  examples: [
    ['restore prod -n team-a --latest --wait', 'the newest backup'],
    ['restore prod --before 2026-11-21T09:00:00Z', 'the newest one before a mistake'],
    ['restore prod --latest --from team-b/old --yes', 'a backup of another cluster, without a question'],
  ],
  usage: 'CLUSTER (--backup NAME | --latest | --before TIME) [--from NAMESPACE/CLUSTER] [--yes] [--wait]',
  summary: 'Replaces all data of the cluster with the data of a backup.',
  options: {
    backup: { type: 'string', value: 'NAME', meaning: 'restore this backup, named as in hcp backups' },
    latest: { type: 'boolean', meaning: 'restore the newest backup' },
    before: beforeOption('restore'),
    from: {
      type: 'string',
      value: 'NAMESPACE/CLUSTER',
      meaning: 'restore a backup of another cluster in the same bucket',
    },
    yes: { type: 'boolean', short: 'y', meaning: 'do not ask for confirmation that later writes are lost' },
    wait: { type: 'boolean', meaning: 'wait until the API servers are available again' },
  },
  access: [
    findingControlPlane,
    followingControlPlane('--wait'),
    changingControlPlane('requesting a restore'),
    ...readingStore,
  ],
  prepare(given) {
    const request = readRestoreRequest(given);
    return (session) => restoreBackup(session, request);
  },
};

/** @throws UsageError */
export function readRestoreRequest(given: Parameters<Command['prepare']>[0]): RestoreRequest {
  return {
    cluster: clusterArgument(given),
    choice: readChoice(given),
    from: otherClusterOption(given, 'from'),
    yes: hasSwitch(given, 'yes'),
    wait: hasSwitch(given, 'wait'),
  };
}

async function restoreBackup(session: Session, request: RestoreRequest): Promise<void> {
  const controlPlane = await findLasting(session, request.cluster);
  const backup = await withBackups(session, controlPlane, request.from, (backups) =>
    choose(request, controlPlane, backups),
  );

  session.terminal.info(describeLoss(controlPlane.cluster, backup, request.from, session.now()));
  await confirmLoss(session, 'Restore it?', request.yes);

  const previous = controlPlane.object.status?.etcd?.restore?.request;
  const generation = await requestRestore(session, controlPlane, { backup: backup.id, from: request.from });
  const look = (now: ControlPlane) => restoreProgress(now, { generation, previous });
  await printRequested(session, controlPlane, { said: `restore of ${backup.id} requested`, wait: request.wait, look });
}

/** What replaces the data. */
interface Replacement {
  /** Its name, as in the spec. */
  readonly id: string;
  /** Missing for a snapshot without a manifest, of which nothing else is known. */
  readonly backup?: StoredBackup;
}

async function bareSnapshot(
  id: string,
  { cluster, from }: RestoreRequest,
  { object }: ControlPlane,
  backups: ClusterBackups,
): Promise<Replacement> {
  if ((await backups.list()).bareSnapshots.includes(id)) return { id };
  const whose = from === undefined ? cluster : `${from.namespace}/${from.cluster}`;
  throw new Error(
    `there is no snapshot ${id} of ${whose}: run ${nextCommand('backups', cluster, object.metadata.namespace)}`,
  );
}

/** The chosen backup, as the operator would choose it. */
async function choose(
  request: RestoreRequest,
  controlPlane: ControlPlane,
  backups: ClusterBackups,
): Promise<Replacement> {
  const { cluster, object } = controlPlane;
  const { from, choice } = request;
  if (choice.kind === 'bareSnapshot') return bareSnapshot(choice.name, request, controlPlane, backups);
  const incarnation = incarnationOf(object);
  const found =
    from === undefined ? await readFolder(backups, incarnation) : { own: [], foreign: (await backups.list()).backups };
  const chosen = chooseOwnFirst(choice, found, from !== undefined || incarnation.clusterId === undefined);
  if (chosen.kind === 'chosen') return { id: backupId(chosen.backup), backup: chosen.backup };
  if (chosen.kind === 'none')
    throw new Error(describeMissing(request, object.metadata.namespace, [...found.own, ...found.foreign]));
  throw new Error(describeForeign(chosen, from ?? { namespace: object.metadata.namespace, cluster }));
}

function describeLoss(
  cluster: string,
  { id, backup }: Replacement,
  from: BackupOwner | undefined,
  now: number,
): string {
  const whose = from === undefined ? '' : ` of ${from.namespace}/${from.cluster}`;
  return [
    `${backup ? 'Backup' : 'Snapshot'} ${id}${whose} replaces all data of ${cluster}.`,
    backup
      ? `Everything written after revision ${backup.revision}, in the last ${spanText(now - backup.time)}, will be lost,`
      : 'It has no manifest, so that its Kubernetes version is unknown. Everything written after it was taken will be lost,',
    'and the API server is unavailable meanwhile. The current data is set aside on the volumes.',
  ].join('\n');
}

function describeMissing(
  { cluster, choice, from }: RestoreRequest,
  namespace: string,
  there: readonly BackupName[],
): string {
  const whose = from === undefined ? cluster : `${from.namespace}/${from.cluster}`;
  const [newest] = there;
  const oldest = there.at(-1);
  if (!newest || !oldest)
    return `the bucket contains no backup of ${whose}: see ${nextCommand('backups', cluster, namespace)}`;
  const wanted = choice.kind === 'backup' ? choice.id : choice.kind === 'before' ? `before ${choice.before}` : 'at all';
  return `there is no backup ${wanted} of ${whose}: choose one of the ${there.length} existing ones, from ${backupId(oldest)} to ${backupId(newest)}`;
}
