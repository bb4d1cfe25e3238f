import { Cluster } from '../../constructs/api/resources.ts';
import { readFolder, unreadable } from '../backup/own-backups.ts';
import { incarnationOf } from '../backup/ownership.ts';
import { backupId } from '../../constructs/cluster/backup-names.ts';
import type { Manifest } from '../backup/manifest.ts';
import { changesSince } from '../etcd/key-changes.ts';
import { messageOf } from '../kube/error-message.ts';
import type { KubeObject } from '../kube/object.ts';
import { changingControlPlane, findingControlPlane, followingControlPlane, readingStore } from './access.ts';
import { clusterArgument, type Command, hasSwitch, type Session } from './command.ts';
import { type ControlPlane, findControlPlane, refuseDeleting } from './control-plane.ts';
import { readingEtcd, withEtcdMember } from './etcd-member.ts';
import { follow } from './follow.ts';
import { confirmLoss, requestRestore } from './request-restore.ts';
import { restoreProgress } from './restore-progress.ts';
import { describeRollback, type Loss } from './rollback/describe.ts';
import { backupBefore, rollbackVersions, versionToLeave } from './rollback/plan-rollback.ts';
import { withBackups } from './store.ts';

interface RollbackRequest {
  readonly cluster: string;
  readonly yes: boolean;
  readonly wait: boolean;
}

/** Takes a control plane back to the minor before, with the two fields that users can also set in one write. */
export const rollback: Command = {
  name: 'rollback',
  usage: 'CLUSTER [--yes] [--wait]',
  summary: 'Takes a control plane back to its last backup of the minor of Kubernetes before.',
  options: {
    yes: { type: 'boolean', short: 'y', meaning: 'do not ask for confirmation that the listed changes are lost' },
    wait: { type: 'boolean', meaning: 'wait until the API servers are available again' },
  },
  access: [
    findingControlPlane,
    followingControlPlane('--wait'),
    changingControlPlane('requesting the earlier version, and a restore'),
    ...readingStore,
    { resource: Cluster, verbs: ['get'], why: 'whether a topology sets the version' },
    ...readingEtcd,
  ],
  prepare(given) {
    const request = { cluster: clusterArgument(given), yes: hasSwitch(given, 'yes'), wait: hasSwitch(given, 'wait') };
    return (session) => rollBack(session, request);
  },
};

async function rollBack(session: Session, { cluster: name, yes, wait }: RollbackRequest): Promise<void> {
  const controlPlane = await findControlPlane(session, name);
  refuseDeleting(controlPlane);
  const { cluster, object } = controlPlane;
  const from = versionToLeave(controlPlane);
  const chosen = await withBackups(session, controlPlane, undefined, async (backups) => {
    const { own } = await readFolder(backups, incarnationOf(object));
    return backupBefore(from, own, (backup) => backups.manifest(backup).catch(unreadable));
  });
  const { problem, ...versions } = rollbackVersions(
    controlPlane,
    from,
    chosen.manifest,
    await topologyVersion(session, controlPlane),
  );

  const loss = await lossSince(session, cluster, chosen.manifest);
  for (const line of describeRollback(cluster, versions, chosen, loss, session.now())) session.terminal.tell(line);
  if (problem !== undefined) throw new Error(problem);
  await confirmLoss(session, 'Go back?', yes);

  const backup = backupId(chosen.backup);
  const previous = object.status?.etcd?.restore?.request;
  const generation = await requestRestore(session, controlPlane, { backup, version: versions.to });
  if (!wait) {
    session.terminal.print(`way back to ${versions.to} requested: see the condition EtcdRestoreReady`);
    return;
  }
  const restored = await follow(session, controlPlane, (now) => restoreProgress(now, { generation, previous }));
  session.terminal.print(`${restored}, with Kubernetes ${versions.to}`);
}

/** The changes since a backup. etcd is asked, because the API servers may be what does not work. */
async function lossSince(session: Session, cluster: string, manifest: Manifest): Promise<Loss> {
  try {
    return await withEtcdMember(session, cluster, async (member) => {
      if ((await member.clusterId()) !== manifest.clusterId) return 'the data was restored since the backup';
      const { status } = await member.status();
      return changesSince(manifest, member.keys(status.revision));
    });
  } catch (error) {
    return messageOf(error);
  }
}

interface WithTopology extends KubeObject {
  readonly spec?: { readonly topology?: { readonly version?: string } };
}

async function topologyVersion({ client, namespace }: Session, { cluster }: ControlPlane): Promise<string | undefined> {
  const found = await client.find<WithTopology>(Cluster, { namespace, name: cluster });
  return found?.spec?.topology?.version;
}
