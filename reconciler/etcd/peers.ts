import type { LoopMemberClient } from './observe.ts';
import { type EtcdObservation, votersOf } from './members.ts';

/** A connection that a member does not have, although the other one may reach it. */
export interface MissingConnection {
  readonly from: string;
  readonly to: string;
}

/**
 * The members that a member reaches, by its own metrics: IDs in decimal; undefined if they say nothing of peers. Labels are hexadecimal.
 * etcd sets the gauge to 0 when it fails to dial a peer, also while that peer has dialled it.
 * @see https://etcd.io/docs/v3.6/metrics/#network
 */
export function reachedPeers(metrics: string): ReadonlySet<string> | undefined {
  const peers = metrics.split('\n').flatMap((line) => {
    const [, id = '', value] = activePeer.exec(line) ?? [];
    return value === undefined ? [] : [{ id: BigInt(`0x${id}`).toString(), isReached: value === '1' }];
  });
  return peers.length === 0 ? undefined : new Set(peers.flatMap(({ id, isReached }) => (isReached ? [id] : [])));
}

const activePeer = /^etcd_network_active_peers\{Local="[0-9a-f]{1,16}",Remote="([0-9a-f]{1,16})"\} ([01])$/;

/**
 * The connections between voters that one of them lacks. A member that answers as long as others dial it looks healthy, and the cluster
 * has no quorum once one more is like it. Of a member that does not say whom it reaches nothing is missing: its image may be a user's own.
 */
export async function missingConnections(
  observation: EtcdObservation,
  clients: (name: string) => Pick<LoopMemberClient, 'reachedPeers'> | undefined,
): Promise<readonly MissingConnection[]> {
  const voters = votersOf(observation).filter(({ status }) => status);
  const missing = voters.map(async ({ name }) => {
    const reached = await clients(name)
      ?.reachedPeers()
      .catch(() => undefined);
    if (!reached) return [];
    const others = voters.filter((other) => other.name !== name && !reached.has(other.registration?.id ?? ''));
    return others.map((other) => ({ from: name, to: other.name }));
  });
  return (await Promise.all(missing)).flat();
}
