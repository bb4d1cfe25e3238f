import type { LeaseObject } from '../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { Deployment, Lease } from '../../../constructs/api/resources.ts';
import { providerNamespace } from '../../../constructs/cluster/provider-names.ts';
import { Network, type Outage } from '../../support/loop/network.ts';
import { OperatorPod } from '../../support/loop/operator-pod.ts';
import { completeCluster, smallestSpec } from '../../support/loop/scenario.ts';

/** How long a lease lasts, and how long a standby takes to see that it has ended. */
const takeOverMs = 30_000 + 10_000;

/** Two pods of the operator, each with its own way to the API server, and the second at which each writes what. */
async function twoPods() {
  const cluster = await completeCluster(smallestSpec);
  const { clock, management } = cluster;
  const pods = ['first', 'second'].map((name) => {
    const writes: { readonly at: number; readonly action: string }[] = [];
    const network = new Network(clock, () => management.store.version);
    const onWrite = (action: string) => void writes.push({ at: clock.elapsed(), action });
    return { pod: new OperatorPod(cluster, network, { leaderElection: true, name, onWrite }), network, writes };
  });
  const [first, second] = [pods[0]!, pods[1]!];
  await first.pod.start();
  await clock.advance(1_000);
  await second.pod.start();
  const order = async (verbosity: number): Promise<void> => {
    await cluster.change({ deployment: { scheduler: { args: { v: String(verbosity) } } } });
  };
  const isApplied = (verbosity: number) =>
    JSON.stringify(cluster.objects.get(Deployment, `${cluster.place.cluster}-scheduler`)).includes(
      `"--v=${verbosity}"`,
    );
  const holder = () =>
    management.store
      .list(Lease)
      .filter(({ metadata }) => metadata.namespace === providerNamespace)
      .map((lease) => (lease as LeaseObject).spec?.holderIdentity);
  return { clock, first, second, order, isApplied, holder };
}

const work = (writes: readonly { readonly at: number; readonly action: string }[], from: number) =>
  writes.filter(({ at, action }) => at > from && !/ Lease /.test(action)).map(({ action }) => action);

it.each<Outage>(['killed', 'lost', 'deaf', 'without etcd'])(
  'a standby takes over from a leader for which the API server is %s amid its writes, and the old one writes nothing any more',
  async (outage) => {
    const { clock, first, second, order, isApplied, holder } = await twoPods();
    await order(1);
    await clock.advance(60_000);
    expect([holder(), isApplied(1), work(second.writes, 0)]).toEqual([['first'], true, []]);

    const isAway = first.network.cutAfter(2, outage);
    await order(2);
    await clock.advance(500);
    expect(isAway.aborted).toBe(true);
    const cutAt = clock.elapsed();
    await clock.advance(takeOverMs);
    expect([holder(), isApplied(2)]).toEqual([['second'], true]);

    // What the old one was about to send arrives now.
    first.network.restore();
    await clock.advance(1_000);
    await order(3);
    await clock.advance(120_000);
    expect([holder(), isApplied(3), work(first.writes, cutAt)]).toEqual([['second'], true, []]);
    await first.pod.stop();
    await second.pod.stop();
  },
);
