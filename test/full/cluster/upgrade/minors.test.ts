import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { defaultsFor } from '../../../../constructs/cluster/versions.ts';
import { recordFault } from '../../../support/fault-table.ts';
import { kubernetesVersion } from '../../../support/workbench.ts';
import { addMinor, type FurtherMinor } from '../../../tools/testbed/further-minor.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';
import { BusyCluster } from '../../../cluster/upgrade/busy-cluster.ts';

// One highly available control plane starts with the oldest minor that tests run, with a worker that keeps this minor, and is
// upgraded twice while users never stop.
const instance = instanceFrom(process.env, inject('testbed'));
const namespace = 'minors';
const limitMs = 300_000;

let busy: BusyCluster;
let older: Readonly<Record<'1.35' | '1.36', FurtherMinor>>;

beforeAll(async () => {
  const report = (line: string) => console.log(line);
  older = { '1.35': await addMinor(instance, '1.35', report), '1.36': await addMinor(instance, '1.36', report) };
  const spec = { exposure: { loadBalancer: {} } };
  busy = await BusyCluster.open({ namespace, first: older['1.35'], next: [older['1.36']], spec });
});

afterAll(() => busy?.close());

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

describe('while a writer, a watcher and calls through a worker never stop', () => {
  test('an upgrade is held by a webhook that does not answer, as hcp reports before, and can be withdrawn', async () => {
    const { cluster } = busy;
    const { bench, api } = cluster;
    const { version } = older['1.36'];
    const check = ['preflight', api.name, '--to', version, '--namespace', namespace];
    await cluster.apply(silentWebhook);
    const held = await bench.hcp.run(...check).ended;
    expect(held).toMatchObject({ code: 1, out: expect.stringMatching(/^webhooks +failed +.*silent\.example\.org/m) });
    await bench.patch(api.name, { spec: { version } });
    const because = { status: 'False', reason: 'WebhooksRefuse', message: /silent\.example\.org/ } as const;
    await bench.untilCondition(api.name, 'UpgradePreflightSucceeded', because);
    expect(await busy.versions()).toEqual([{ version: older['1.35'].version, replicas: 2 }]);

    // Before the webhook is repaired: then the upgrade begins at once.
    await bench.patch(api.name, { spec: { version: older['1.35'].version } });
    await bench.untilCondition(api.name, 'UpgradePreflightSucceeded', { status: 'True' });
    await cluster.kubectl(['delete', 'validatingwebhookconfiguration', silentWebhook.metadata.name]);
    expect(await bench.hcp.run(...check).ended).toMatchObject({ code: 0 });
    await bench.untilReady(api.name);
  });

  test('an upgrade whose API servers cannot start is taken back, and says why', async () => {
    const { bench, api } = busy.cluster;
    const { version } = older['1.36'];
    const apiServer = { image: { tag: 'no-such-tag' } };
    await bench.patch(api.name, {
      spec: { version, rollout: { progressDeadlineSeconds: 30 }, deployment: { apiServer } },
    });
    const message = /without progress for too long; .*no-such-tag.* has generation \d+$/;
    await bench.untilCondition(
      api.name,
      'SpecAccepted',
      { status: 'False', reason: 'RevisionFailed', message },
      limitMs,
    );
    await bench.untilCondition(api.name, 'APIServerDeploymentsReady', { status: 'True' });
    expect(await busy.versions()).toEqual([{ version: older['1.35'].version, replicas: 2 }]);
    await recordFault({
      fault: 'the API servers of an upgrade cannot start, because their image does not exist',
      observed:
        'the old ones serve on; after the deadline the operator takes the whole spec back, and SpecAccepted is False, RevisionFailed, with what the pods say',
      recoverySeconds: undefined,
      dataLost: 'none',
    });
  });

  test('binaries of 1.36 emulate 1.35, and those of 1.35 read what they have stored', async () => {
    const { cluster } = busy;
    const { bench, api } = cluster;
    const [{ version }, before] = [older['1.36'], older['1.35'].version];
    const saysOfItself = async () => JSON.parse(await cluster.kubectl(['get', '--raw', '/version'])) as object;
    await bench.patch(api.name, { spec: { version, rollout: null, deployment: null, upgrade: { hold: '1h' } } });
    const because = { status: 'False', reason: 'HoldingUpgrade', message: /set spec\.version to v1\.35/ } as const;
    await bench.untilCondition(api.name, 'UpgradeHoldEnded', because, limitMs);
    expect((await bench.get(api.name)).status).toMatchObject({ versions: [{ version: before, replicas: 2 }] });
    expect(await saysOfItself()).toMatchObject({ gitVersion: version, emulationMinor: '35' });
    await cluster.kubectl(['create', 'configmap', 'stored']);

    await bench.patch(api.name, { spec: { version: before } });
    await bench.untilReady(api.name, limitMs);
    expect((await bench.get(api.name)).status?.versions).toEqual([{ version: before, replicas: 2 }]);
    expect(await saysOfItself()).toMatchObject({ gitVersion: before });
    await cluster.kubectl(['get', 'configmap', 'stored']);
    await recordFault({
      fault: 'a new minor does not please while its binaries emulate the one before',
      observed:
        'spec.version goes back, and the binaries of the minor before read everything; add-ons and etcd never changed',
      recoverySeconds: undefined,
      dataLost: 'none',
    });
  });

  test('Kubernetes 1.35 becomes 1.36, the worker of 1.35 serves on, and one of 1.36 joins', async () => {
    const { version } = older['1.36'];
    const changes = { rollout: null, deployment: null, upgrade: { hold: '1s' } };
    expect(await busy.upgrade(version, changes)).toEqual([{ version, replicas: 2 }]);
    await busy.expectServes(older['1.35'].version);
    await busy.expectJoins(older['1.36']);
  });

  test('Kubernetes 1.36 becomes the newest minor, and the worker of 1.35 serves on', async () => {
    expect(await busy.upgrade(kubernetesVersion)).toEqual([{ version: kubernetesVersion, replicas: 2 }]);
    await busy.expectServes(older['1.35'].version);
  });

  test('etcd gets its new minor at last', async () => {
    const { etcd } = defaultsFor(kubernetesVersion);
    expect(await busy.etcdOnce(etcd)).toEqual([etcd, etcd, etcd]);
  });

  test('every write has its answer and was seen, no call has failed, and the steps have kept their order', async () => {
    expect(await busy.end()).toEqual([]);
  });
});
