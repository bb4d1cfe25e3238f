import { blockMoveAnnotation, etcdFormedAnnotation } from '../../constructs/api/group.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import type { ObjectMeta } from '../kube/object.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';
import type { EtcdObservation } from './members.ts';
import { statusOfEtcd } from './status-members.ts';

/** The annotations of a HostedControlPlane, which record that its etcd was formed. */
type Annotated = Pick<ObjectMeta, 'annotations'>;

/** Owns both annotations. */
const purpose = 'etcd-formed';

/**
 * Annotates the HostedControlPlane when a quorum has confirmed its etcd for the first time, and after a restore, which
 * gives etcd another ID. From then on `clusterctl move` waits, because it does not move volumes. Not for one that is prepared for a move.
 */
export async function recordFormation(
  { hostedControlPlane, writer }: Pick<ControlPlaneContext, 'hostedControlPlane' | 'writer'>,
  observation: EtcdObservation | undefined,
): Promise<void> {
  const { clusterID } = observation ? statusOfEtcd(observation) : {};
  if (clusterID === undefined) return;
  const { annotations = {} } = hostedControlPlane.metadata;
  if (annotations[etcdFormedAnnotation] === clusterID && annotations[blockMoveAnnotation] !== undefined) return;
  const wanted = { [etcdFormedAnnotation]: clusterID, [blockMoveAnnotation]: 'etcd' };
  await writer.setFields(HostedControlPlane, hostedControlPlane, { annotations: wanted }, purpose);
}

/** Whether the object says that its etcd was formed. */
export function isFormationRecorded({ annotations }: Annotated): boolean {
  return annotations?.[etcdFormedAnnotation] !== undefined;
}

/** The ID of the etcd cluster that the object names; undefined if there is none. Other clients can write any text. */
export function recordedClusterId({ annotations }: Annotated): string | undefined {
  const text = annotations?.[etcdFormedAnnotation] ?? '';
  return /^[0-9a-f]{1,16}$/.test(text) ? text : undefined;
}

/** For the message of a pause: what to do if `clusterctl move` has caused it; empty when nothing blocks a move. */
export function adviceOnMove({ annotations }: Annotated): string {
  if (annotations?.[blockMoveAnnotation] === undefined) return '';
  return `. clusterctl move pauses the Cluster, gives up at the annotation ${blockMoveAnnotation}, and leaves the Cluster paused, because a move would leave the data of etcd behind: set spec.paused of the Cluster to false, and run hcp move prepare first`;
}
