import { afterAll, beforeAll, expect, test } from 'vitest';
import { Deployment, Pod } from '../../constructs/api/resources.ts';
import { versionAnnotation } from '../../constructs/pod/component.ts';
import { defaultsFor } from '../../constructs/cluster/versions.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { BackupWorkbench, unverifiedBackup } from '../support/backup-workbench.ts';
import { recordFault } from '../support/fault-table.ts';
import { until } from '../support/until.ts';
import { kubernetesVersion, single } from '../support/workbench.ts';

const namespace = 'upgrades';
const limitMs = 240_000;
let bench: BackupWorkbench;
beforeAll(async () => {
  bench = await BackupWorkbench.start({ namespace, withoutImage: true });
});
afterAll(() => bench.close());

/** The binaries of one version under the name of another: the test observes only when the change is made. */
const { etcd, konnectivity } = defaultsFor(kubernetesVersion);
const image = { tag: kubernetesVersion };
const older = {
  ...single,
  version: 'v1.36.1',
  upgrade: { hold: '0s' },
  deployment: {
    apiServer: { image, konnectivity: { image: { tag: `v${konnectivity}` } } },
    controllerManager: { image },
    scheduler: { image },
  },
  etcd: {
    replicas: 1,
    image: { tag: `${etcd}-0` },
    backup: unverifiedBackup,
  },
};

interface Templated extends KubeObject {
  readonly spec: { readonly template: KubeObject };
}

async function renderedVersion(): Promise<string | undefined> {
  const deployment = await bench.client.get<Templated>(Deployment, { namespace, name: 'c1-api-server' });
  return deployment.spec.template.metadata.annotations?.[versionAnnotation];
}

test('Kubernetes changes its minor version only after a backup, also when the store is unreachable', async () => {
  await bench.create('c1', older);
  await bench.untilReady('c1', limitMs);
  await bench.untilCondition('c1', 'EtcdBackupReady', { status: 'True' }, limitMs);
  await until('the first backup', async () => (await bench.get('c1')).status?.etcd?.backup?.lastBackup, limitMs);

  await bench.setStore({ secretAccessKey: 'wrong' });
  await bench.patch('c1', { spec: { version: kubernetesVersion } });
  const message = await until(
    'the condition of the upgrade',
    async () => {
      const condition = await bench.condition('c1', 'APIServerDeploymentsReady');
      return condition?.reason === 'WaitingForBackup' && /which fails/.test(condition.message) && condition.message;
    },
    limitMs,
  );
  expect(message).toMatch(
    /Kubernetes 1\.36 to 1\.37 waits for a backup, which fails: .* set etcd\.backup\.beforeUpgrade: false/,
  );
  expect(await renderedVersion()).toBe('v1.36.1');
  await bench.untilCondition('c1', 'Available', { status: 'True' });

  await bench.setStore();
  const mended = performance.now();
  await until('the API server to be changed', async () => (await renderedVersion()) === kubernetesVersion, limitMs);
  const backups = bench.backups('c1');
  const [newest] = (await backups.list()).backups;
  expect((await backups.manifest(newest!)).takenFor).toEqual(['change:Kubernetes 1.36 to 1.37']);
  await until(
    'only API servers of the new version',
    async () => {
      const { items } = await bench.client.list(Pod, {
        namespace,
        labelSelector: 'app.kubernetes.io/component=api-server',
      });
      const versions = items.map(({ metadata }) => metadata.annotations?.[versionAnnotation]);
      return versions.every((version) => version === kubernetesVersion);
    },
    limitMs,
  );
  await bench.untilReady('c1', limitMs);
  expect((await bench.get('c1')).status?.etcd?.backup?.takenFor).toBeUndefined();
  await recordFault({
    fault: 'the store of backups refuses while Kubernetes is to change its minor version',
    observed: 'APIServerDeploymentsReady WaitingForBackup with the reason; the old version keeps serving',
    recoverySeconds: (performance.now() - mended) / 1000,
    dataLost: 'none',
  });
});
