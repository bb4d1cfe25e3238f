import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientCertificateSignerAnnotation, servingCertificateSignerAnnotation } from '../../constructs/api/group.ts';
import { Node, Secret } from '../../constructs/api/resources.ts';
import { selectorString } from '../../constructs/cluster/labels.ts';
import { isSignedBy } from '../../reconciler/pki/certificate.ts';
import { signerFingerprint, splitCertificates } from '../../reconciler/pki/pem.ts';
import { type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import { recordFault } from '../support/fault-table.ts';
import { until } from '../support/until.ts';
import { single } from '../support/workbench.ts';
import { type HostedApi, hostedKubectl } from '../tools/testbed/hosted-api.ts';
import { kubectl as managementKubectl } from '../tools/testbed/kubectl.ts';
import { inMachine } from '../tools/testbed/machine.ts';
import { addWorker, withHostedApi, type Worker } from '../tools/testbed/workers.ts';
import { clientPod, clientRights } from '../cluster/access/client-pod.ts';
import { type JoinableCluster, openJoinableCluster } from '../cluster/workers/joinable-cluster.ts';
import { NodeWatcher } from '../cluster/workers/node-watcher.ts';

const name = { namespace: 'another-ca', name: 'hosted' };
/**
 * A kubelet renews its certificates after 70 to 90 % of this: after the new CA signs, and before it would count as moved
 * because the last certificate of the old one has expired.
 */
const args = { 'cluster-signing-duration': '12m' };
const spec = { ...single, deployment: { controllerManager: { args } } };
/** Files reach pods within minutes, and the kubelet renews its certificates: both take more than ten minutes together. */
const rotationMs = 25 * 60_000;

let cluster: JoinableCluster;
let worker: Worker;
let watcher: NodeWatcher;

/** The administrator's certificate changes with the CA. */
const open = <T>(work: (api: HostedApi) => Promise<T>): Promise<T> => withHostedApi(cluster.instance, name, work);
const kubectl = (...command: string[]): Promise<string> => open((api) => hostedKubectl(cluster.instance, api, command));

beforeAll(async () => {
  cluster = await openJoinableCluster(name.namespace, spec);
  worker = await addWorker(cluster.instance, cluster.api);
  await cluster.apply(clientRights, clientPod(cluster.instance, 'client', worker.name));
  await kubectl('wait', 'pod/client', '--for=condition=Ready', '--timeout=60s');
  for (const addOn of ['coredns', 'konnectivity-agent']) {
    await kubectl(...inSystem, 'rollout', 'status', `deployment/${addOn}`, '--timeout=90s');
  }
  // The CA of a program that reads it once at its start.
  await inPod('cp /var/run/secrets/kubernetes.io/serviceaccount/ca.crt /tmp/first.crt');
  watcher = new NodeWatcher(worker.name, open);
});
afterAll(async () => {
  await watcher?.stop();
  await cluster?.close();
});

const inSystem = ['--namespace', 'kube-system'];
const inPod = (script: string): Promise<string> => kubectl('exec', 'client', '--', 'sh', '-c', script);

/** A request of a pod that trusts only the CA from before. */
const askWithOldTrust = (): Promise<string> =>
  inPod(
    '/kubectl --server=https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT --certificate-authority=/tmp/first.crt ' +
      '--token=$(cat /var/run/secrets/kubernetes.io/serviceaccount/token) get configmaps --output=name',
  );

async function certificateAuthority(): Promise<string> {
  const secret = await cluster.bench.client.get<SecretObject>(Secret, { ...name, name: 'hosted-ca' });
  return valueOf(secret, 'tls.crt') ?? '';
}

const pods = async (): Promise<Record<string, string>> => {
  const path = '{range .items[*]}{.metadata.labels.k8s-app}={.metadata.uid} {end}';
  const list = await kubectl(...inSystem, 'get', 'pods', '--output', `jsonpath=${path}`);
  return Object.fromEntries(
    list
      .trim()
      .split(' ')
      .map((pod) => pod.split('=') as [string, string]),
  );
};

const clientCertificate = (): Promise<string> =>
  inMachine(worker.machine, ['cat', '/var/lib/kubelet/pki/kubelet-client-current.pem']);
const trustOfKubelet = (): Promise<string> => inMachine(worker.machine, ['cat', '/etc/kubernetes/pki/ca.crt']);
const condition = () => cluster.bench.condition(name.name, 'CARotationReady');

test(
  'a manually joined worker is never disconnected while the cluster CA is rotated',
  { timeout: rotationMs },
  async () => {
    const old = await certificateAuthority();
    const before = await pods();
    expect(splitCertificates(await trustOfKubelet())).toEqual(splitCertificates(old));

    const begun = performance.now();
    await cluster.bench.patch(name.name, { spec: { certificates: { rotation: { clusterCA: 'first' } } } });
    const reported = new Set<string>();
    await until(
      'the rotation to be over',
      async () => {
        const now = await condition();
        if (now?.status === 'False' && !reported.has(`${now.reason}: ${now.message}`)) {
          reported.add(`${now.reason}: ${now.message}`);
          console.log(`${((performance.now() - begun) / 1000).toFixed(0)} s ${now.reason}: ${now.message}`);
        }
        const bundle = splitCertificates(await certificateAuthority());
        return now?.status === 'True' && bundle.length === 1 && bundle[0] !== splitCertificates(old)[0];
      },
      rotationMs - 60_000,
    );
    const seconds = (performance.now() - begun) / 1000;
    const signer = await certificateAuthority();

    // Its new certificates were seen.
    const node = await open(({ client }) => client.get(Node, { name: worker.name }));
    const signedBy = signerFingerprint(signer).slice(0, 12);
    expect(node.metadata.annotations).toMatchObject({
      [clientCertificateSignerAnnotation]: signedBy,
      [servingCertificateSignerAnnotation]: signedBy,
    });
    expect(isSignedBy(await clientCertificate(), signer)).toBe(true);

    // Its trusted CA has not changed, it was not restarted, and it works as before.
    expect(splitCertificates(await trustOfKubelet())).toEqual(splitCertificates(old));
    await expectServed();
    await replaceAPIServer();
    await expectServed();

    const after = await pods();
    expect(after['kube-proxy']).toBe(before['kube-proxy']);
    expect(after['kube-dns']).not.toBe(before['kube-dns']);
    expect(after['konnectivity-agent']).not.toBe(before['konnectivity-agent']);

    await watcher.stop();
    expect(watcher.reads).toBeGreaterThan(100);
    expect(watcher.problems).toEqual([]);
    await recordFault({
      fault: 'CA of the cluster replaced under a worker that was joined by hand and trusts only the old one',
      observed: 'the node stays Ready, its kubelet gets a certificate of the new CA automatically, logs and exec work',
      recoverySeconds: undefined,
      dataLost: 'none',
    });
    console.log(`replaced in ${seconds.toFixed(0)} s`);
  },
);

/** What administrators do with the node's pods, and what the pods do. Waits for agents that are being replaced. */
async function expectServed(): Promise<void> {
  const answer = await until('an answer from a pod', () => askWithOldTrust().catch(() => undefined), 60_000);
  expect(answer).toContain('configmap/kube-root-ca.crt');
  await expect(kubectl('logs', 'client')).resolves.toBe('');
}

/** Then all connections need new handshakes. */
async function replaceAPIServer(): Promise<void> {
  const selection = ['--namespace', name.namespace, 'pods', `--selector=${selectorString(name.name, 'api-server')}`];
  await managementKubectl(cluster.instance, ['delete', ...selection, '--wait']);
  await cluster.bench.untilCondition(name.name, 'Available', { status: 'True' }, 90_000);
}
