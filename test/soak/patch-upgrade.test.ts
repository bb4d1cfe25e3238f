import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { BusyCluster } from '../cluster/upgrade/busy-cluster.ts';
import { addMinor, type FurtherMinor } from '../tools/testbed/further-minor.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';

// The worker keeps its patch release, the newer one: versions of kubelets are compared by their minor only.
const instance = instanceFrom(process.env, inject('testbed'));

let busy: BusyCluster;
let lower: FurtherMinor;
let higher: FurtherMinor;

beforeAll(async () => {
  const report = (line: string) => console.log(line);
  [lower, higher] = [await addMinor(instance, '1.36.3', report), await addMinor(instance, '1.36', report)];
  const spec = { exposure: { loadBalancer: {} } };
  busy = await BusyCluster.open({ namespace: 'patches', first: lower, next: [higher], spec });
});

afterAll(() => busy?.close());

describe('while users never stop', () => {
  test('Kubernetes rises by a patch release', async () => {
    const before = await etcd();
    expect(await busy.upgrade(higher.version)).toEqual([{ version: higher.version, replicas: 2 }]);
    expect(await etcd()).toEqual(before);
    await busy.expectServes(lower.kubelet);
  });

  test('it goes back by one', async () => {
    // Their order is that of a rise.
    await busy.stages.stop();
    expect(await busy.upgrade(lower.version)).toEqual([{ version: lower.version, replicas: 2 }]);
    await busy.expectServes(lower.kubelet);
  });

  test('every write has its answer and was seen, no call has failed, and the steps of the rise have kept their order', async () => {
    expect(await busy.end()).toEqual([]);
  });
});

/** The members of etcd, which a patch release of Kubernetes leaves as they are. */
async function etcd() {
  return (await busy.cluster.bench.get(busy.cluster.api.name)).status?.etcd?.members;
}
