import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { defaultsFor } from '../../../constructs/cluster/versions.ts';
import { ContinuousLoad } from '../../support/continuous-load.ts';
import { until } from '../../support/until.ts';
import { kubernetesVersion } from '../../support/workbench.ts';
import { addMinor } from '../../tools/testbed/further-minor.ts';
import { openHostedApi } from '../../tools/testbed/hosted-api.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { type JoinableCluster, openJoinableCluster } from '../workers/joinable-cluster.ts';
import { eventsLostBy, failuresOf } from './load-result.ts';
import { UpgradeStages } from './upgrade-stages.ts';

// Two API servers get the next minor while users never stop. Two steps, workers, and three members of etcd that get a new minor as well
// are in test/full/cluster/upgrade/minors: here the spec names the new etcd from the start.
const { etcd } = defaultsFor(kubernetesVersion);
const instance = instanceFrom(process.env, inject('testbed'));

let cluster: JoinableCluster;
let before: string;
let load: ContinuousLoad;
let stages: UpgradeStages;

beforeAll(async () => {
  ({ version: before } = await addMinor(instance, '1.36', (line) => console.log(line), { serversOnly: true }));
  cluster = await openJoinableCluster('next-minor', {
    version: before,
    replicas: 2,
    etcd: { replicas: 1, version: etcd },
    exposure: { loadBalancer: {} },
  });
  const { bench, api } = cluster;
  const open = async () => (await openHostedApi(instance, bench.client, api)).client;
  load = new ContinuousLoad({ path: '/version', open });
  stages = new UpgradeStages(bench, api.name, api.client, { [etcd]: 36 });
  await until(
    'some writes',
    () => load.writes.answered > 20,
    undefined,
    () => load.writes.answered,
  );
});

afterAll(async () => {
  await Promise.all([load?.stop(), stages?.stop()]);
  await cluster?.close();
});

const status = async () => (await cluster.bench.get(cluster.api.name)).status;

test('the binaries of the next minor emulate the one before as long as the upgrade is held', async () => {
  const { bench, api } = cluster;
  await bench.patch(api.name, { spec: { version: kubernetesVersion, upgrade: { hold: '1h' } } });
  const because = { status: 'False', reason: 'HoldingUpgrade', message: /set spec\.version to v1\.36/ } as const;
  await bench.untilCondition(api.name, 'UpgradeHoldEnded', because, 300_000);
  expect((await status())?.versions).toEqual([{ version: before, replicas: 2 }]);
  const says = JSON.parse(await cluster.kubectl(['get', '--raw', '/version'])) as object;
  expect(says).toMatchObject({ gitVersion: kubernetesVersion, emulationMinor: '36' });
});

test('it gets the next minor once the hold ends', async () => {
  const { bench, api } = cluster;
  await bench.patch(api.name, { spec: { upgrade: { hold: '0s' } } });
  await bench.untilRolledOut(api.name);
  expect((await status())?.versions).toEqual([{ version: kubernetesVersion, replicas: 2 }]);
  const says = JSON.parse(await cluster.kubectl(['get', '--raw', '/version'])) as object;
  expect(says).toMatchObject({ gitVersion: kubernetesVersion });
  expect(says).not.toMatchObject({ emulationMinor: '36' });
});

test('every write has its answer and was seen, no call has failed, and the steps have kept their order', async () => {
  expect(await eventsLostBy(load)).toEqual([]);
  await Promise.all([load.stop(), stages.stop()]);
  console.log(JSON.stringify({ writes: load.writes.answered, calls: load.calls.answered, samples: stages.samples }));
  expect([...failuresOf(load), ...stages.problems]).toEqual([]);
  expect(stages.samples).toBeGreaterThan(0);
});
