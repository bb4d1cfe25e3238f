import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ContinuousLoad, kubeletPath } from '../../support/continuous-load.ts';
import { defaultsFor } from '../../../constructs/cluster/versions.ts';
import { recordFault } from '../../support/fault-table.ts';
import { runHcp } from '../../support/hcp.ts';
import { until } from '../../support/until.ts';
import { kubernetesVersion } from '../../support/workbench.ts';
import { addMinor, type FurtherMinor } from '../../testbed/further-minor.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { openHostedApi } from '../../testbed/hosted-api.ts';
import type { Machine } from '../../testbed/machine.ts';
import { addWorker, withHostedApi, type Worker } from '../../testbed/workers.ts';
import { byEnvironment, clientPod } from '../access/client-pod.ts';
import { type JoinableCluster, openJoinableCluster } from '../workers/joinable-cluster.ts';
import { NodeWatcher } from '../workers/node-watcher.ts';
import { UpgradeStages } from './upgrade-stages.ts';

// One highly available control plane starts with the oldest minor that tests run, with a worker that keeps this minor, and is
// upgraded twice while users never stop.
const instance = instanceFrom(process.env, inject('testbed'));
const namespace = 'minors';
const limitMs = 300_000;

let cluster: JoinableCluster;
let older: Readonly<Record<'1.35' | '1.36', FurtherMinor>>;
let worker: Worker;
let load: ContinuousLoad;
let node: NodeWatcher;
let stages: UpgradeStages;

beforeAll(async () => {
  const report = (line: string) => console.log(line);
  older = { '1.35': await addMinor(instance, '1.35', report), '1.36': await addMinor(instance, '1.36', report) };
  cluster = await openJoinableCluster(namespace, {
    version: older['1.35'].version,
    replicas: 2,
    etcd: { replicas: 3 },
    exposure: { loadBalancer: {} },
  });
  const { bench, api } = cluster;
  const equip = async (machine: Machine) => {
    await older['1.35'].equip(machine);
    await older['1.36'].provideAddOns(machine);
  };
  worker = await addWorker(instance, api, undefined, { equip });
  await expectServes(worker, older['1.35'].version);
  const open = async () => (await openHostedApi(instance, bench.client, api)).client;
  load = new ContinuousLoad({ path: kubeletPath(worker.name), open });
  node = new NodeWatcher(worker.name, (work) => withHostedApi(instance, api, work));
  stages = new UpgradeStages(bench, api.name, api.client);
});

afterAll(async () => {
  await Promise.all([load?.stop(), node?.stop(), stages?.stop()]);
  await cluster?.close();
});

/** What an API server says when etcd gave it no answer. */
const byEtcd = /rpc error: code = (?:Unknown|Internal|Unavailable)|etcdserver: (?:leader changed|request timed out)/;

/** An API server must ask it about ServiceAccounts of kube-system, and no server answers. */
const silentWebhook = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'silent' },
  webhooks: [
    {
      name: 'silent.example.org',
      failurePolicy: 'Fail',
      sideEffects: 'None',
      timeoutSeconds: 1,
      admissionReviewVersions: ['v1'],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
      rules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['serviceaccounts'] },
      ],
      clientConfig: { url: 'https://127.0.0.1:1/' },
    },
  ],
};

/** A node of this version runs a pod, which is reached through konnectivity, and which reaches its API server. */
async function expectServes({ name }: Worker, version: string): Promise<void> {
  const kubelet = ['get', 'node', name, '--output', 'jsonpath={.status.nodeInfo.kubeletVersion}'];
  expect(await cluster.kubectl(kubelet)).toBe(version);
  const pod = `on-${name}`;
  await cluster.apply(clientPod(instance, pod, name));
  await cluster.kubectl(['wait', `pod/${pod}`, '--for=condition=Ready', '--timeout=60s']);
  const script = `timeout 10 ${byEnvironment} auth whoami --output=jsonpath='{.status.userInfo.username}'`;
  const whoAmI = () => cluster.kubectl(['exec', pod, '--', 'sh', '-c', script]).catch(() => undefined);
  expect(await until('the API server to answer the pod', whoAmI)).toBe('system:serviceaccount:default:default');
}

/** Upgrades, prints what is waited for, and returns the versions that API servers run then. */
async function upgrade(version: string) {
  const { bench, api } = cluster;
  const begun = performance.now();
  await bench.patch(api.name, { spec: { version, rollout: null, deployment: null } });
  const reported = new Set<string>();
  const isOver = async () => {
    const { metadata, status } = await bench.get(api.name);
    const notTrue = (status?.conditions ?? []).filter((condition) => condition.status === 'False');
    const text = notTrue.map(({ type, reason, message }) => `${type} ${reason}: ${message}`).join(' | ');
    if (!reported.has(text))
      console.log(`${((performance.now() - begun) / 1000).toFixed(1)} s ${status?.version}: ${text}`);
    reported.add(text);
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    return ready?.status === 'True' && ready.observedGeneration === metadata.generation && status?.version === version;
  };
  await until(`Kubernetes ${version}`, isOver, limitMs);
  return (await bench.get(api.name)).status?.versions;
}

describe('while a writer, a watcher and calls through a worker never stop', () => {
  test('an upgrade is held by a webhook that does not answer, as hcp reports before, and can be withdrawn', async () => {
    const { bench, api } = cluster;
    const { version } = older['1.36'];
    const check = ['upgrade', api.name, '--to', version, '--check', '--namespace', namespace];
    await cluster.apply(silentWebhook);
    const held = await runHcp(inject('kubeconfig'), check).ended;
    expect(held).toMatchObject({ code: 1, out: expect.stringMatching(/^webhooks +failed +.*silent\.example\.org/m) });
    await bench.patch(api.name, { spec: { version } });
    const because = { status: 'False', reason: 'WebhooksRefuse', message: /silent\.example\.org/ } as const;
    await bench.untilCondition(api.name, 'UpgradePreflightSucceeded', because);
    expect((await bench.get(api.name)).status?.versions).toEqual([{ version: older['1.35'].version, replicas: 2 }]);

    // Before the webhook is repaired: then the upgrade begins at once.
    await bench.patch(api.name, { spec: { version: older['1.35'].version } });
    await bench.untilCondition(api.name, 'UpgradePreflightSucceeded', { status: 'True' });
    await cluster.kubectl(['delete', 'validatingwebhookconfiguration', silentWebhook.metadata.name]);
    expect(await runHcp(inject('kubeconfig'), check).ended).toMatchObject({ code: 0 });
    await bench.untilReady(api.name);
  });

  test('an upgrade whose API servers cannot start is taken back, and says why', async () => {
    const { bench, api } = cluster;
    const { version } = older['1.36'];
    const apiServer = { image: { tag: 'no-such-tag' } };
    await bench.patch(api.name, {
      spec: { version, rollout: { progressDeadlineSeconds: 30 }, deployment: { apiServer } },
    });
    const message = /without progress for too long; .*no-such-tag.* that of generation \d+$/;
    await bench.untilCondition(
      api.name,
      'SpecAccepted',
      { status: 'False', reason: 'RevisionFailed', message },
      limitMs,
    );
    await bench.untilCondition(api.name, 'APIServerDeploymentsReady', { status: 'True' });
    expect((await bench.get(api.name)).status?.versions).toEqual([{ version: older['1.35'].version, replicas: 2 }]);
    await recordFault({
      fault: 'the API servers of an upgrade cannot start, because their image does not exist',
      observed:
        'the old ones serve on; after the deadline the operator takes the whole spec back, and SpecAccepted is False, RevisionFailed, with what the pods say',
      recoverySeconds: undefined,
      dataLost: 'none',
    });
  });

  test('Kubernetes 1.35 becomes 1.36, the worker of 1.35 serves on, and one of 1.36 joins', async () => {
    const { version, equip } = older['1.36'];
    expect(await upgrade(version)).toEqual([{ version, replicas: 2 }]);
    await expectServes(worker, older['1.35'].version);
    await expectServes(await addWorker(instance, cluster.api, undefined, { equip }), version);
  });

  test('Kubernetes 1.36 becomes the newest minor, and the worker of 1.35 serves on', async () => {
    expect(await upgrade(kubernetesVersion)).toEqual([{ version: kubernetesVersion, replicas: 2 }]);
    await expectServes(worker, older['1.35'].version);
  });

  test('etcd gets its new minor at last', async () => {
    const etcd = async () =>
      (await cluster.bench.get(cluster.api.name)).status?.etcd?.members?.map(({ version }) => version);
    const { etcd: newest } = defaultsFor(kubernetesVersion);
    await until(`etcd ${newest}`, async () => (await etcd())?.every((version) => version === newest), limitMs);
    await cluster.bench.untilReady(cluster.api.name);
    expect(await etcd()).toEqual([newest, newest, newest]);
  });

  test('no request has failed but for writes that etcd refused, every write was seen, and the steps have kept their order', async () => {
    await load.stopWriting();
    const unseen = () => load.unseen;
    await until('the last events', () => unseen().length === 0, 30_000, unseen);
    await Promise.all([load.stop(), node.stop(), stages.stop()]);
    const { writes, calls, events } = load;
    console.log(JSON.stringify({ writes, calls, events, samples: stages.samples, nodeReads: node.reads }));
    // A call may be repeated once, and a watch goes on where it was. No write may lack its answer, whichever API server is
    // replaced; but etcd may refuse one that meets a member that stops: see reconciler/etcd/README.md.
    const unanswered = writes.reasons.filter((reason) => !byEtcd.test(reason));
    expect([...unanswered, ...writes.failures, ...calls.failures, ...events.failures]).toEqual([]);
    expect(writes.answered).toBeGreaterThan(100);
    expect(stages.samples).toBeGreaterThan(50);
    expect(stages.problems).toEqual([]);
    expect(node.problems).toEqual([]);
  });
});
