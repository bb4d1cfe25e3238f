import { PersistentVolumeClaim, Pod } from '../../constructs/api/resources.ts';
import type { Writer } from '../clusters/management/view.ts';
import { claimOf, type MemberObjects, ordinalOf, podOf } from './member-objects.ts';
import { type EtcdObservation, leaderOf } from './members.ts';
import type { LoopMemberClient, Clients } from './observe-members.ts';
import type { EtcdStep } from './steps.ts';
import { markPurpose, volumeMark } from './volume-mark.ts';

const objectKinds = ['markVolume', 'reserveVolume', 'discardVolume', 'replacePod'] as const;

/** Steps that change pods and volume claims. */
export type ObjectStep = Extract<EtcdStep, { readonly kind: (typeof objectKinds)[number] }>;

/** Steps that call etcd. */
export type EtcdCall = Exclude<EtcdStep, ObjectStep>;

export function isEtcdCall(step: EtcdStep): step is EtcdCall {
  return !(objectKinds as readonly string[]).includes(step.kind);
}

/**
 * Executes the call of a step, at the leader unless the step concerns one member.
 * @throws when etcd refuses it; `isRefusedForNow` reports whether a retry may succeed
 */
export async function execute(step: EtcdCall, observation: EtcdObservation, clients: Clients): Promise<void> {
  const leader = leaderOf(observation)?.name;
  switch (step.kind) {
    case 'addLearner':
      await clientOf(clients, leader).addLearner(step.peerUrl);
      return;
    case 'promote':
      return clientOf(clients, leader).promote(step.id);
    case 'remove':
      return clientOf(clients, leader).remove(step.id);
    case 'moveLeader':
      return clientOf(clients, step.from).moveLeader(step.targetId);
    case 'compact':
      return clientOf(clients, step.member).compact(step.revision);
    case 'defragment':
      return clientOf(clients, step.member).defragment();
    case 'disarm':
      return clientOf(clients, step.member).disarm(step);
  }
}

function clientOf(clients: Clients, name: string | undefined): LoopMemberClient {
  const client = name === undefined ? undefined : clients(name);
  if (!client) throw new Error(`etcd member ${name ?? '(no leader)'} cannot be reached: it has no pod`);
  return client;
}

/** Where a step on pods and volume claims happens. */
interface MemberPlaces {
  readonly cluster: { readonly name: string; readonly namespace: string };
  /** The objects for which the step was decided. The step ignores other objects that have the same names meanwhile. */
  readonly objects: MemberObjects;
  readonly writer: Writer;
}

/**
 * Executes a step on exactly the objects for which it was decided.
 * @throws when the volume claim to mark no longer exists
 */
export async function executeOnObjects(step: ObjectStep, { cluster, objects, writer }: MemberPlaces): Promise<void> {
  const ordinal = ordinalOf(step.member);
  const pod = podOf(cluster, objects, ordinal);
  const claim = claimOf(cluster, objects, ordinal);
  switch (step.kind) {
    case 'markVolume':
    case 'reserveVolume': {
      if (!claim) throw new Error(`the volume claim of ${step.member} no longer exists`);
      const annotations = volumeMark(step.id, { isReserved: step.kind === 'reserveVolume' });
      return writer.setFields(PersistentVolumeClaim, claim, { annotations }, markPurpose);
    }
    case 'discardVolume':
      // The claim is deleted first: Kubernetes keeps it until the pod is deleted, and then no new pod can use it.
      if (claim) await writer.delete(PersistentVolumeClaim, claim);
      if (pod) await writer.delete(Pod, pod);
      return;
    case 'replacePod':
      if (pod?.metadata.uid === step.podUid) await writer.delete(Pod, pod);
  }
}
