import type { LeaseObject } from '../../../imports/kubernetes.ts';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Lease } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { LeaderElection } from '../../../reconciler/kube/lease.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { until } from '../../support/until.ts';

const times = { durationMs: 3_000, renewDeadlineMs: 2_000, retryMs: 200 };
/** For a leader that must not lose its lease, however slow the machine is. */
const lasting = { ...times, durationMs: 300_000, renewDeadlineMs: 200_000 };
const namespace = 'default';

const server = plainApiServer();
const { client } = server;
let elections: LeaderElection[];
let name: string;

/** A candidate and its callbacks. */
function candidate(identity: string, through: KubeClient = client, asked = times) {
  const callbacks: string[] = [];
  const election = new LeaderElection({
    client: through,
    name,
    namespace,
    identity,
    clock: systemClock,
    times: asked,
    onAcquired: () => callbacks.push('acquired'),
    onLost: () => callbacks.push('lost'),
  });
  elections.push(election);
  election.start();
  return { election, callbacks };
}
const holder = async () => (await client.get<LeaseObject>(Lease, { namespace, name })).spec;

beforeEach(() => {
  [elections, name] = [[], `lease-${randomUUID()}`];
});
afterEach(async () => {
  await Promise.all(elections.map((election) => election.stop()));
});

describe('LeaderElection', () => {
  it('has one leader, and the next one once it leaves, long before its lease would end', async () => {
    const first = candidate('first', client, lasting);
    await until('a leader', () => first.election.isLeader);
    const second = candidate('second', client, lasting);
    const acquired = (await holder())?.renewTime;
    await until('a renewal', async () => (await holder())?.renewTime !== acquired);
    expect([first.callbacks, second.callbacks]).toEqual([['acquired'], []]);
    await first.election.stop();
    await until('the next leader', () => second.election.isLeader);
    expect(await holder()).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
    expect([first.callbacks, second.callbacks]).toEqual([['acquired'], ['acquired']]);
  });

  it('elects one of many', async () => {
    const candidates = Array.from({ length: 6 }, (_, index) => candidate(`candidate-${index}`, client, lasting));
    await until('a leader', () => candidates.some(({ election }) => election.isLeader));
    const first = (await holder())?.renewTime;
    await until('a renewal', async () => (await holder())?.renewTime !== first);
    expect(candidates.filter(({ callbacks }) => callbacks.length > 0)).toHaveLength(1);
  });

  it('steps down before another can lead when the server falls silent', async () => {
    const proxy = await FlakyProxy.start(server.port);
    const target = { ...server.target, server: `https://127.0.0.1:${proxy.port}` };
    const remote = new KubeClient(connectionFor(target));
    const first = candidate('first', remote);
    await until('a leader', () => first.election.isLeader);
    const second = candidate('second');
    proxy.goSilent();
    const stillLed = await until(
      'the next leader',
      () => second.callbacks.length > 0 && { first: first.election.isLeader },
    );
    expect(stillLed).toEqual({ first: false });
    expect(first.callbacks.at(-1)).toBe('lost');
    proxy.heal();
    await first.election.stop();
    await remote.connection.close();
    await proxy.stop();
  });

  it('steps down when another client has written the lease', async () => {
    const first = candidate('first');
    await until('a leader', () => first.election.isLeader);
    // A busy machine alone may have cost it the lease before: only later callbacks count.
    const before = first.callbacks.length;
    const spec = { holderIdentity: 'intruder', leaseDurationSeconds: 3 };
    await client.mergePatch(Lease, { namespace, name }, { spec }, { fieldManager: 'kubectl' });
    await until('the loss of the lease', () => first.callbacks.slice(before).includes('lost'));
    expect(first.election.isLeader).toBe(false);
    await until('it to lead again after the intruder has expired', () => first.election.isLeader);
    expect(first.callbacks.at(-1)).toBe('acquired');
  });
});
