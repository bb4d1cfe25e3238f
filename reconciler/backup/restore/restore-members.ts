import type { PodObject } from '../../../imports/kubernetes.ts';
import { backOff } from '../../kube/back-off.ts';
import { findTask } from '../../engine/tasks/task.ts';
import { PersistentVolumeClaim, Pod } from '../../../constructs/api/resources.ts';
import { type RenderedObject, renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { restoreToken } from '../../../constructs/control-plane/etcd/restore.ts';
import type { EtcdRestoreFacts } from '../../../constructs/cluster/facts.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { etcdRestorePod, etcdVolumeClaim, etcdMemberHost } from '../../../constructs/cluster/names.ts';
import { needsToStop } from '../../clusters/pods/needs-to-stop.ts';
import type { StepNeeds } from '../../clusters/dry-run/try-step.ts';
import { firstMemberId } from '../../etcd/derived-ids.ts';
import { etcdPeerUrl } from '../../etcd/member-objects.ts';
import { markPurpose, volumeMark } from '../../etcd/volume-mark.ts';
import { messageOf } from '../../kube/error-message.ts';
import type { RestoreContext } from './restore-context.ts';
import type { MemberAct } from './plan-restore.ts';
import { completedRequests, problemOf, restoredAnnotations } from './observe-restore.ts';
import { operatorImageOf } from '../receiver/operator-image.ts';
import { amount } from './prepare.ts';
import type { PreparedBackup, RestoreSource } from './prepared-backup.ts';
import { ownerOf } from '../ownership.ts';
import { restoreOf, type RestoreRequest, revisionBump } from './request.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import type { WorkContext } from '../../engine/tasks/background-work.ts';
import { etcdCredentials } from '../../etcd/access.ts';
import { systemClock } from '../../kube/clock.ts';
import { withBackups } from '../with-backups.ts';
import { pushSnapshot, type Receiver } from '../receiver/push.ts';

interface RestoreWork {
  readonly source: RestoreSource;
  readonly prepared: PreparedBackup;
  readonly run: string;
  readonly startTime: string;
}

/** Creates and deletes restore pods, and sends the snapshot to pods that wait for it. */
export async function restoreMembers(
  scope: RestoreContext,
  work: RestoreWork,
  { members, surplusPods }: { readonly members: readonly MemberAct[]; readonly surplusPods: readonly string[] },
): Promise<void> {
  const withAct = (act: MemberAct['act']) => members.filter((one) => one.act === act).map(({ ordinal }) => ordinal);
  const discarded = withAct('discard').map((ordinal) => etcdRestorePod(scope.cluster.name, ordinal));
  await deletePods(scope, [...discarded, ...surplusPods]);
  await createPods(scope, work, withAct('create'));
  for (const ordinal of withAct('send')) send(scope, work, ordinal);
}

/**
 * What a restore needs before it stops anything: its own pods and volume claims, and the pods that run afterwards. They are tried
 * with the same content each time, so that a refusal is remembered.
 */
export function needsOf(scope: RestoreContext, prepared: PreparedBackup): StepNeeds {
  const { reader } = scope;
  const objects = restoreObjects(scope, { prepared, run: 'dry-run', startTime: '2025-01-01T00:00:00Z' });
  const isMissing = ({ kind, metadata }: RenderedObject) =>
    kind !== PersistentVolumeClaim.kind || reader.get(PersistentVolumeClaim, metadata.name) === undefined;
  return needsToStop('restore', scope, objects.filter(isMissing));
}

/** The pods of a restore, and the volume claims of members that have none. */
function restoreObjects(
  scope: RestoreContext,
  { prepared, run, startTime }: Omit<RestoreWork, 'source'>,
): RenderedObject[] {
  const etcdRestore: EtcdRestoreFacts = {
    run,
    sizeBytes: prepared.snapshot.sizeBytes,
    sha256: prepared.snapshot.sha256,
    revisionBump: revisionBump(startTime),
    operatorImage: operatorImageOf(scope),
  };
  return renderControlPlane(scope.restored, { ...scope.facts, etcdRestore }, 'etcd-restore');
}

async function createPods(scope: RestoreContext, work: RestoreWork, ordinals: readonly number[]) {
  const { cluster, writer } = scope;
  if (ordinals.length === 0) return;
  const objects = restoreObjects(scope, work);
  for (const ordinal of ordinals) {
    const names = [etcdVolumeClaim(cluster.name, ordinal), etcdRestorePod(cluster.name, ordinal)];
    for (const object of objects.filter(({ metadata }) => names.includes(metadata.name))) {
      // The finalizer of a claim alone keeps it after its owner is deleted, as for the StatefulSet's own claims.
      const { ownerReferences: _, ...metadata } = object.metadata;
      await writer.createOnce(object.kind === PersistentVolumeClaim.kind ? { ...object, metadata } : object);
    }
  }
}

/** Name of the background task that sends the snapshot to a member's pod. */
const sendWork = (ordinal: number) => `etcd-restore-${ordinal}`;

const sendBackOff = { firstMs: 500, longestMs: 30_000 };

/** Starts to send the snapshot, or tries again after a delay. */
function send(scope: RestoreContext, work: RestoreWork, ordinal: number): void {
  const pod = scope.reader.get<PodObject>(Pod, etcdRestorePod(scope.cluster.name, ordinal));
  const address = pod?.status?.podIP;
  if (address === undefined) return;
  const task = findTask(scope.work, scope.now, {
    name: sendWork(ordinal),
    inputsKey: `${work.run}/${pod?.metadata.uid ?? ''}`,
    retryMs: ({ failures }) => backOff(sendBackOff, failures),
    supersedes: true,
    turn: 'restore',
  });
  const serverName = etcdMemberHost(scope.cluster, ordinal);
  if (task.isDue)
    task.start((context) => sendBackup(scope, work, { address, port: ports.etcdClient, serverName }, context));
}

/** Sends the backup from the store to the pod that restores one member. */
async function sendBackup(
  { cluster, reader }: RestoreContext,
  { source, prepared }: RestoreWork,
  receiver: Receiver,
  { signal, report, moved }: WorkContext,
): Promise<void> {
  const { sizeBytes } = prepared.snapshot;
  await withBackups(source, (backups) =>
    pushSnapshot(receiver, prepared.read(backups, signal), {
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

/**
 * Marks every claim with its member and its request. The IDs of the members come first: an etcd that starts with an
 * unmarked volume beside other members would count as one that lost its data. After a recovery or a move, a restore that is still
 * in the spec must not run again, even if the claims that record it are lost.
 */
export async function markClaims(
  { cluster, reader, writer }: RestoreContext,
  { id, kind }: RestoreRequest,
  run: string,
): Promise<void> {
  const ordinals = Array.from({ length: cluster.spec.etcd.replicas }, (_, ordinal) => ordinal);
  const claims = ordinals.flatMap((ordinal) => {
    const claim = reader.get(PersistentVolumeClaim, etcdVolumeClaim(cluster.name, ordinal));
    return claim ? [{ claim, ordinal }] : [];
  });
  for (const { claim, ordinal } of claims) {
    const member = firstMemberId(etcdPeerUrl(cluster, ordinal), restoreToken(cluster, run));
    const annotations = volumeMark(member, { isReserved: false });
    await writer.setFields(PersistentVolumeClaim, claim, { annotations }, markPurpose);
  }
  const { restore } = cluster.spec.etcd;
  const newest: Partial<Record<RestoreRequest['kind'], string>> = {
    ...(restore && { restore: restoreOf(restore, ownerOf(cluster)).id }),
    [kind]: id,
  };
  const kinds = ['restore', 'recovery', 'move'] as const;
  const annotations = kinds.flatMap((one) => {
    const name = restoredAnnotations[one];
    const ran = new Set([newest[one] ?? [], ...claims.map(({ claim }) => completedRequests(claim, name))].flat());
    return ran.size === 0 ? [] : [[name, [...ran].join(',')]];
  });
  for (const { claim } of claims) {
    const fields = { annotations: Object.fromEntries(annotations) as Record<string, string> };
    await writer.setFields(PersistentVolumeClaim, claim, fields, markedPurpose);
  }
}

/** The purpose that owns the annotations with the completed requests. */
const markedPurpose = 'etcd-restore';

/** Deletes all restore pods. */
export async function removePods(scope: RestoreContext): Promise<void> {
  const pods = scope.reader.list(Pod, selectorLabels(scope.cluster.name, 'etcd-restore'));
  await deletePods(
    scope,
    pods.map(({ metadata }) => metadata.name),
  );
}

async function deletePods({ reader, writer }: RestoreContext, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const pod = reader.get(Pod, name);
    if (pod && !pod.metadata.deletionTimestamp) await writer.delete(Pod, pod);
  }
}

/** The progress of each member, as one sentence. */
export function describeProgress(
  { cluster, reader, work }: RestoreContext,
  members: readonly MemberAct[],
  { snapshot }: PreparedBackup,
): string {
  const parts = members.map(({ ordinal }) => {
    const pod = reader.get<PodObject>(Pod, etcdRestorePod(cluster.name, ordinal));
    const state = work.state(sendWork(ordinal));
    const sending =
      state.kind === 'running' ? state.progress : state.kind === 'failed' ? messageOf(state.error) : undefined;
    const message = (pod && problemOf(pod)) ?? sending ?? pod?.status?.phase ?? 'its pod is being created';
    return `${ordinal}: ${message}`;
  });
  return `restoring the members from a snapshot of ${amount(snapshot.sizeBytes)}: ${parts.join('; ')}`;
}
