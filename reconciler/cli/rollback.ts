import type { ClusterObject } from '../../imports/cluster-api.ts';
import type { PodObject } from '../../imports/kubernetes.ts';
import { Cluster, Pod, type Resource, Secret } from '../../constructs/api/resources.ts';
import { backupId } from '../../constructs/cluster/backup-names.ts';
import { selectorLabels, selectorOf } from '../../constructs/cluster/labels.ts';
import { etcdMemberHost, namesOf } from '../../constructs/cluster/names.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { minorOf } from '../../constructs/cluster/versions.ts';
import { changeCause } from '../backup/causes.ts';
import type { Manifest } from '../backup/manifest.ts';
import { readFolder, unreadable } from '../backup/own-backups.ts';
import { incarnationOf } from '../backup/ownership.ts';
import {
  type CommandAccess,
  changingControlPlane,
  findingControlPlane,
  followingControlPlane,
  forwardingPort,
  readingStore,
} from './access.ts';
import { type Command, type Session, clusterArgument, hasSwitch } from './command.ts';
import { type ControlPlane, findLasting } from './control-plane.ts';
import { follow } from './follow.ts';
import { nextCommand, spanText } from './format.ts';
import { confirmLoss, requestRestore, restoreProgress } from './request-restore.ts';
import {
  type DescribedBackup,
  type RollbackVersions,
  backupBefore,
  rollbackVersions,
  versionToLeave,
} from './rollback/plan-rollback.ts';
import { withBackups } from './store.ts';
import { etcdCredentials } from '../etcd/access.ts';
import { MemberClient } from '../etcd/client.ts';
import { ordinalOf } from '../etcd/member-objects.ts';
import { type KeyChanges, changesSince } from '../etcd/key-changes.ts';
import { messageOf } from '../kube/error-message.ts';
import type { KubeObject } from '../kube/object.ts';
import { isReady } from '../kube/readiness.ts';

interface RollbackRequest {
  readonly cluster: string;
  readonly yes: boolean;
  readonly wait: boolean;
}

/** What this needs in the namespace of the control plane. */
const readingEtcd: readonly CommandAccess[] = [
  { resource: Pod, verbs: ['list'], why: 'finding the members of etcd' },
  { resource: Secret, verbs: ['get'], why: 'a client certificate of etcd' },
  forwardingPort('etcd'),
];

/** Takes a control plane back to the minor before, with the two fields that users can also set in one write. */
export const rollback: Command = {
  name: 'rollback',
  examples: [['rollback prod -n team-a --wait', 'shows what is lost, asks, and goes back']],
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
  const controlPlane = await findLasting(session, name);
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
  for (const line of describeRollback(cluster, versions, chosen, loss, session.now())) session.terminal.info(line);
  if (problem !== undefined) throw new Error(problem);
  await confirmLoss(session, 'Go back?', yes);

  const backup = backupId(chosen.backup);
  const previous = object.status?.etcd?.restore?.request;
  const generation = await requestRestore(session, controlPlane, { backup, version: versions.to });
  if (!wait) {
    session.terminal.print(
      `way back to ${versions.to} requested: see ${nextCommand('status', cluster, session.namespace)}`,
    );
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

async function topologyVersion({ client, namespace }: Session, { cluster }: ControlPlane): Promise<string | undefined> {
  const found = await client.find<ClusterObject>(Cluster, { namespace, name: cluster });
  return found?.spec?.topology?.version;
}

/**
 * Works with a member of etcd, through a forwarded port of its pod. The API servers need not answer.
 * @throws when no member is ready, or the user may not read its certificates
 */
async function withEtcdMember<T>(
  { client, namespace, forward }: Session,
  cluster: string,
  work: (member: MemberClient) => Promise<T>,
): Promise<T> {
  const labelSelector = selectorOf(selectorLabels(cluster, 'etcd'));
  const { items } = await client.list<PodObject>(Pod, { namespace, labelSelector });
  const pod = items.find(isReady)?.metadata.name;
  if (pod === undefined) throw new Error('no member of etcd is ready');
  const { etcdCA, etcdController } = namesOf(cluster).secrets;
  const names = [etcdCA, etcdController];
  const secrets = await Promise.all(names.map((name) => client.find(Secret, { namespace, name })));
  const get = <O extends KubeObject>(_: Resource, name: string) => secrets[names.indexOf(name)] as O | undefined;
  const credentials = etcdCredentials(cluster, { get });
  const forwarded = await forward({ namespace, pod, port: ports.etcdClient });
  const serverName = etcdMemberHost({ name: cluster, namespace }, ordinalOf(pod));
  const member = new MemberClient({ name: pod, address: `127.0.0.1:${forwarded.port}`, serverName }, credentials);
  try {
    return await work(member);
  } finally {
    member.close();
    forwarded.close();
  }
}

/** What a way back loses: the changes of each resource, or why they are unknown. */
export type Loss = ReadonlyMap<string, KeyChanges> | string;

/** What a way back does, for the user who confirms it. */
export function describeRollback(
  cluster: string,
  { from, to, etcdFrom, etcdTo }: RollbackVersions,
  { backup, manifest }: DescribedBackup,
  loss: Loss,
  now: number,
): string[] {
  const ofEtcd = etcdFrom === undefined || etcdFrom === etcdTo ? '' : `, and from etcd ${etcdFrom} to ${etcdTo}`;
  const change = `Kubernetes 1.${minorOf(to)} to 1.${minorOf(from)}`;
  const reason = manifest.takenFor?.includes(changeCause(change)) ? ` for the change of ${change}` : '';
  const verified = backup.isVerified ? 'was verified' : 'was not verified';
  return [
    `${cluster} goes back from Kubernetes ${from} to ${to}${ofEtcd}.`,
    `Backup ${backupId(backup)} replaces all its data. It was taken ${spanText(now - backup.time)} ago${reason}, and ${verified}.`,
    ...describeLoss(loss),
    'The API server is unavailable meanwhile. The current data is set aside on the volumes; run hcp backup before to have it in the bucket, too.',
    `Kubernetes ${to} serves no kubelet of a later minor: replace the nodes that have one.`,
  ];
}

function describeLoss(loss: Loss): string[] {
  if (typeof loss === 'string')
    return [`Everything written since then will be lost. What that is cannot be counted: ${loss}.`];
  if (loss.size === 0) return ['No key of etcd has changed since then.'];
  return [
    'These changes of keys in etcd since then will be lost:',
    ...[...loss].map(([resource, changes]) => `  ${resource.replace('/registry/', '')}: ${changesText(changes)}`),
    'A key that was deleted and created again counts as both; one that was created and deleted since then does not count.',
  ];
}

function changesText({ changed, created, deleted }: KeyChanges): string {
  const parts = Object.entries({ changed, created, deleted }).flatMap(([what, count]) =>
    count > 0 ? [`${count} ${what}`] : [],
  );
  return parts.join(', ');
}
