import type { SecretObject } from '../../imports/kubernetes.ts';
import { beforeAll, expect, test } from 'vitest';
import { ConfigMap, Secret } from '../../constructs/api/resources.ts';
import { rotations } from '../../reconciler/certificates/rotation-request.ts';
import { extensionAuthentication } from '../../reconciler/certificates/ca/published-trust.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { kubeErrorOf } from '../../reconciler/kube/errors.ts';
import { isSignedBy } from '../../reconciler/pki/certificate.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import { valueOf } from '../../reconciler/pki/secret.ts';
import { recordFault } from '../support/fault-table.ts';
import { operatedNamespace } from '../support/operated-namespace.ts';
import { until } from '../support/until.ts';
import { hostedClient } from '../support/hosted-client.ts';
import { single } from '../support/workbench.ts';

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const namespace = 'rotated';
const cluster = 'c1';
/** Pods are replaced up to three times, kubelets take a minute per file, and clients up to eight minutes. */
const rotationMs = 25 * 60_000;

const bench = operatedNamespace(namespace);
beforeAll(async () => {
  await bench.create(cluster, single);
  await bench.untilReady(cluster, 240_000);
});

const secretOf = (name: string) => bench.client.find<SecretObject>(Secret, { namespace, name: `${cluster}-${name}` });
const trusted = async (name: string) => splitCertificates(valueOf(await secretOf(name), 'tls.crt') ?? '');
const annotate = (annotation: string, value: string | null) =>
  bench.patch(cluster, { metadata: { annotations: { [annotation]: value } } });
/** Anonymous users may read the version too, so the test asks for the user. */
const isRefused = (client: KubeClient) =>
  client.raw('/api/v1/namespaces').then(
    () => false,
    (error: unknown) => [401, 403].includes(kubeErrorOf(error)?.code ?? 0),
  );
const untilNothingWaits = () =>
  until(
    'no successor to wait any more',
    async () => (await Promise.all(['ca-next', 'etcd-next', 'proxy-next'].map(secretOf))).every((found) => !found),
    rotationMs,
  );

test(
  'all three CAs are rotated, by field and by annotation; then the old ones are refused',
  async () => {
    const names = ['ca', 'etcd', 'proxy'];
    const before = await Promise.all(names.map(trusted));
    const oldKubeconfig = valueOf(await secretOf('kubeconfig'), 'value') ?? '';
    const old = hostedClient(oldKubeconfig);
    await old.raw('/api/v1/namespaces');

    const begun = performance.now();
    await bench.patch(cluster, { spec: { certificates: { rotation: { clusterCA: 'one', etcdCA: 'one' } } } });
    await annotate(rotations.proxy.annotation, 'second');
    await bench.untilCondition(cluster, 'CARotationReady', { status: 'False' });
    await bench.untilCondition(cluster, 'CARotationReady', { status: 'True' }, rotationMs);
    await untilNothingWaits();
    const rotatedMs = performance.now() - begun;

    const after = await Promise.all(names.map(trusted));
    expect(after.map((each) => each.length)).toEqual([1, 1, 1]);
    for (const [index, each] of after.entries()) expect(before[index]).not.toContain(each[0]);
    const served = valueOf(await secretOf('apiserver'), 'tls.crt') ?? '';
    expect(isSignedBy(served, after[0]?.[0] ?? '')).toBe(true);
    // A client that trusts only the old one verifies the server until the cross certificate expires.
    expect(splitCertificates(served)).toHaveLength(2);
    // API servers publish the CA certificates they trust, and only ever add some.
    const hosted = await bench.hosted(cluster);
    const published = await hosted.get<ConfigMapObject>(ConfigMap, extensionAuthentication);
    for (const key of ['client-ca-file', 'requestheader-client-ca-file']) {
      expect(splitCertificates(published.data?.[key] ?? '')).toHaveLength(1);
    }
    await until('the old administrator to be refused', () => isRefused(old), 180_000);
    await old.connection.close();
    await hosted.raw('/api/v1/namespaces');
    await hosted.connection.close();
    await bench.untilReady(cluster, 240_000);
    await recordFault({
      fault: 'all three CAs of a control plane with one of each pod replaced at once',
      observed: `step by step until no component trusts or presents the old ones, in ${Math.round(rotatedMs / 60_000)} min, most of which is the wait until every client of Kubernetes' own library has reloaded its certificate; an administrator of the old CA is refused`,
      recoverySeconds: undefined,
      dataLost: 'none',
    });
  },
  2 * rotationMs,
);
