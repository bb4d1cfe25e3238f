import type { LeaseObject } from '../../../imports/kubernetes.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Lease } from '../../../constructs/api/resources.ts';
import { LeaderElection } from '../../../reconciler/kube/lease.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryApiServer } from '../../support/memory-cluster/api-server.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
import { administrator } from '../../support/memory-cluster/users.ts';
import { installRights, operatorUser } from '../../support/loop/shipped-rights.ts';

const name = { namespace: 'default', name: 'leader' };
let clock: ManualClock;
let client: MemoryClient;
let others: MemoryClient;
let elections: LeaderElection[];
let actions: string[];

beforeEach(async () => {
  clock = new ManualClock();
  elections = [];
  actions = [];
  const server = new MemoryApiServer(() => clock.now());
  installRights(server, { namespace: 'default' });
  others = new MemoryClient(server, administrator('others'));
  client = new MemoryClient(server, operatorUser({ namespace: 'default' }), {
    before: (action) => void actions.push(action.split(' ')[0] ?? ''),
  });
});
afterEach(async () => {
  await Promise.all(elections.map((election) => election.stop()));
});

/** A candidate on a machine with its own time, and its callbacks. */
async function candidate(identity: string, machine: ManualClock) {
  const callbacks: string[] = [];
  const election = new LeaderElection({
    client,
    ...name,
    identity,
    clock: machine,
    random: () => 0.5,
    onAcquired: () => callbacks.push('acquired'),
    onLost: () => callbacks.push('lost'),
  });
  elections.push(election);
  election.start();
  await machine.advance(0);
  return { election, callbacks };
}

describe('leader election', () => {
  it('is not decided by the clocks of the machines', async () => {
    const skewed = new ManualClock(clock.now() + 3_600_000);
    const first = await candidate('first', clock);
    const second = await candidate('second', skewed);
    for (let seconds = 0; seconds < 60; seconds += 2) {
      await clock.advance(2_000);
      await skewed.advance(2_000);
    }
    expect([first.callbacks, second.callbacks]).toEqual([['acquired'], []]);
  });

  it.each([3_600_000, -3_600_000])('is not decided by setting the time of a machine by %i ms', async (byMs) => {
    const machine = new ManualClock();
    const first = await candidate('first', clock);
    const second = await candidate('second', machine);
    await machine.advance(2_000);
    machine.setTime(byMs);
    clock.setTime(byMs);
    for (let seconds = 0; seconds < 30; seconds += 2) {
      await machine.advance(2_000);
      await clock.advance(2_000);
    }
    expect([first.callbacks, second.callbacks]).toEqual([['acquired'], []]);
    expect((await client.get<LeaseObject>(Lease, name)).spec).toMatchObject({ holderIdentity: 'first' });
  });

  it('is kept with one request each time, and read again when another client has written or deleted the lease', async () => {
    const { callbacks } = await candidate('first', clock);
    await clock.advance(2_000);
    actions = [];
    await clock.advance(4_000);
    expect(actions).toEqual([actions[0], actions[0]]);

    await others.mergePatch(Lease, name, { metadata: { labels: { theirs: 'any' } } }, { fieldManager: 'them' });
    await clock.advance(4_000);
    await others.delete(Lease, name);
    await clock.advance(4_000);
    expect(callbacks).toEqual(['acquired']);
    expect((await client.get<LeaseObject>(Lease, name)).spec).toMatchObject({ holderIdentity: 'first' });
  });

  it('takes over from a holder that is gone after its lease duration, also when the time is set back meanwhile', async () => {
    const machine = new ManualClock();
    await candidate('first', clock);
    const second = await candidate('second', machine);
    machine.setTime(-3_600_000);
    await machine.advance(14_000);
    expect(second.callbacks).toEqual([]);
    await machine.advance(4_000);
    expect(second.callbacks).toEqual(['acquired']);
  });
});
