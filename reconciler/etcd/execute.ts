import { type EtcdObservation, leaderOf } from './members.ts';
import type { LoopMemberClient, Clients } from './observe.ts';
import type { EtcdStep } from './steps.ts';

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
