import type { PodObject } from '../../../imports/kubernetes.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { wasEtcdFormed } from '../../backup/restore/earlier-data.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import { type EtcdObservation, leaderOf } from '../../etcd/members.ts';
import type { EtcdReport } from '../../etcd/report.ts';
import { isReady } from '../../kube/readiness.ts';

/** What of a control plane has ever served. The rules of upgrades protect data, so that they begin with it. */
export interface Lived {
  readonly etcd: boolean;
  readonly apiServers: boolean;
}

/** What the operator has written or sees. */
export interface Traces {
  /** The object, its status or a mark of a volume says that etcd was formed. */
  readonly isEtcdRecorded: boolean;
  /** A member is ready, or answers. */
  readonly isEtcdSeen: boolean;
  /** A quorum says that no key was ever written. */
  readonly isEtcdEmpty: boolean;
  /** The status has a version of an API server that served. */
  readonly areServersRecorded: boolean;
  /** An API server is ready. */
  readonly areServersSeen: boolean;
}

/**
 * What has lived. A status can be lost on the way to another management cluster, or in a backup of this one. So etcd that may have data
 * counts as one that API servers have written to.
 */
export function livedBy(traces: Traces): Lived {
  const { isEtcdRecorded, isEtcdSeen, isEtcdEmpty, areServersRecorded, areServersSeen } = traces;
  const haveServed = areServersRecorded || areServersSeen;
  const etcd = isEtcdRecorded || isEtcdSeen || haveServed;
  return { etcd, apiServers: haveServed || (etcd && !isEtcdEmpty) };
}

/** @param etcdReport the last observation of etcd; undefined before the first one */
export function observeLived(
  context: Pick<ControlPlaneContext, 'cluster' | 'hostedControlPlane' | 'reader'>,
  etcdReport: EtcdReport | undefined,
): Lived {
  const { cluster, hostedControlPlane, reader } = context;
  const { version, versions, initialization } = hostedControlPlane.status ?? {};
  const observation = etcdReport?.observation;
  const hasReady = (component: ComponentName) =>
    reader.list<PodObject>(Pod, selectorLabels(cluster.name, component)).some(isReady);
  return livedBy({
    isEtcdRecorded: wasEtcdFormed(context),
    isEtcdSeen: hasReady('etcd') || (observation?.members.some(({ status }) => status !== undefined) ?? false),
    isEtcdEmpty: observation !== undefined && isEmpty(observation),
    areServersRecorded: (version ?? versions ?? initialization?.controlPlaneInitialized) !== undefined,
    areServersSeen: hasReady('api-server'),
  });
}

/** Whether no key was ever written: the first write makes the second revision, and none is ever taken back. */
function isEmpty(observation: EtcdObservation): boolean {
  const { status: leader } = leaderOf(observation) ?? {};
  const isKnown = observation.membership === 'confirmed' && leader !== undefined;
  if (!isKnown || leader.raftAppliedIndex < leader.raftIndex) return false;
  return observation.members.every(({ status }) => status === undefined || status.revision <= 1);
}
