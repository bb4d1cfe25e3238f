import type { PodObject, StatefulSetObject } from '../../../imports/kubernetes.ts';
import { group } from '../../../constructs/api/group.ts';
import { PersistentVolumeClaim, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import { restoreRunAnnotation } from '../../../constructs/control-plane/etcd/restore.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { etcdRestorePod, etcdVolumeClaim, namesOf } from '../../../constructs/cluster/names.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Reader } from '../../clusters/management/view.ts';
import { terminationMessage, oneLine } from '../../kube/termination-message.ts';
import { apiServersOf, hasReplicas, settledServersOf } from '../../clusters/pods/servers.ts';
import type { MemberRestore, RestoreInput, RestorePod } from './plan-restore.ts';
import type { RestoreRequest } from './request.ts';

/** Annotations of a volume claim with the completed requests of each kind, the newest first. */
export const restoredAnnotations = {
  restore: `${group}/etcd-restored`,
  recovery: `${group}/etcd-recovered`,
  move: `${group}/etcd-moved`,
} as const satisfies Record<RestoreRequest['kind'], string>;

/** The state of a restore in the management cluster. */
export function observeRestore({
  cluster: { name },
  members,
  reader,
}: {
  readonly cluster: { readonly name: string };
  readonly members: number;
  readonly reader: Reader;
}): Pick<RestoreInput, 'servers' | 'etcd' | 'members' | 'surplusPods'> {
  const podsOf = (component: ComponentName) => reader.list<PodObject>(Pod, selectorLabels(name, component));
  const nameOf = ({ metadata }: KubeObject) => metadata.name;
  const context = { cluster: { name }, reader };
  const apiServer = apiServersOf(context);
  const set = reader.get<StatefulSetObject>(StatefulSet, namesOf(name).etcd);
  const restorePods = podsOf('etcd-restore').map(nameOf);
  const ordinals = Array.from({ length: members }, (_, ordinal) => ordinal);
  const expected = ordinals.map((ordinal) => etcdRestorePod(name, ordinal));
  return {
    servers: {
      ...settledServersOf(context),
      isAvailable: hasReplicas(apiServer) && (apiServer?.status?.availableReplicas ?? 0) > 0,
    },
    etcd: { isWanted: hasReplicas(set), pods: podsOf('etcd').map(nameOf) },
    members: ordinals.map((ordinal) => memberOf(name, ordinal, reader)),
    surplusPods: restorePods.filter((pod) => !expected.includes(pod)),
  };
}

function memberOf(cluster: string, ordinal: number, reader: Reader): MemberRestore {
  const claim = reader.get(PersistentVolumeClaim, etcdVolumeClaim(cluster, ordinal));
  const pod = reader.get<PodObject>(Pod, etcdRestorePod(cluster, ordinal));
  return {
    ordinal,
    claim: claim && { isGoing: claim.metadata.deletionTimestamp !== undefined, restored: restoredOf(claim) },
    pod: pod && podOf(pod),
  };
}

/** Whether a volume claim records that this request was completed on it. */
export function isRestoredBy(claim: KubeObject, { id }: Pick<RestoreRequest, 'id'>): boolean {
  return restoredOf(claim).includes(id);
}

function restoredOf(claim: KubeObject): string[] {
  return Object.values(restoredAnnotations).flatMap((name) => completedRequests(claim, name));
}

/** The completed requests in one of the {@link restoredAnnotations} of a volume claim, the newest first. */
export function completedRequests({ metadata }: KubeObject, annotation: string): string[] {
  return (metadata.annotations?.[annotation] ?? '').split(',').filter(Boolean);
}

function podOf(pod: PodObject): RestorePod {
  return {
    run: pod.metadata.annotations?.[restoreRunAnnotation] ?? '',
    isGoing: pod.metadata.deletionTimestamp !== undefined,
    state: stateOf(pod),
  };
}

function stateOf({ status }: PodObject): RestorePod['state'] {
  if (status?.phase === 'Succeeded') return 'succeeded';
  if (status?.phase === 'Failed') return 'failed';
  const receive = status?.initContainerStatuses?.find(({ name }) => name === 'receive');
  if (receive?.state?.running && status?.podIP) return 'receiving';
  return receive?.state?.terminated ? 'working' : 'starting';
}

/** Why a restore pod makes no progress, if known; undefined if there is no problem. */
export function problemOf({ status }: PodObject): string | undefined {
  const steps = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const failed = steps.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  if (failed) return `${failed.name} failed: ${terminationMessage(failed.state?.terminated?.message ?? '')}`;
  const stuck = steps.find(({ state }) => state?.waiting?.message);
  if (stuck) return `${stuck.name}: ${oneLine(stuck.state?.waiting?.message ?? '')}`;
  const refused = status?.conditions?.find(({ type, status: value }) => type === 'PodScheduled' && value === 'False');
  const message = status?.message ?? refused?.message;
  return message === undefined ? undefined : oneLine(message);
}
