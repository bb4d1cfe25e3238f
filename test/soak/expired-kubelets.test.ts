import type { NodeObject } from '../../imports/kubernetes.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Node } from '../../constructs/api/resources.ts';
import { lastReport } from '../../reconciler/clusters/hosted/kept-objects.ts';
import { readCertificate } from '../../reconciler/pki/certificate.ts';
import { single } from '../support/workbench.ts';
import { until } from '../support/until.ts';
import { inMachine } from '../tools/testbed/machine.ts';
import { addWorker, withHostedApi, type Worker } from '../tools/testbed/workers.ts';
import { type JoinableCluster, openJoinableCluster } from '../cluster/workers/joinable-cluster.ts';

const name = { namespace: 'expired-kubelets', name: 'hosted' };
const args = { 'cluster-signing-duration': '3m' };
const spec = { ...single, deployment: { controllerManager: { args } } };

let cluster: JoinableCluster;
let worker: Worker;
beforeAll(async () => {
  cluster = await openJoinableCluster(name.namespace, spec);
  worker = await addWorker(cluster.instance, cluster.api);
});
afterAll(() => cluster?.close());

const clientCertificate = async () =>
  readCertificate(await inMachine(worker.machine, ['cat', '/var/lib/kubelet/pki/kubelet-client-current.pem']));
const condition = () => cluster.bench.condition(name.name, 'WorkloadKubeletCertificatesReady');

test(
  'a kubelet whose certificate expires while its control plane hibernates is named after it has woken up',
  async () => {
    await cluster.bench.untilCondition(name.name, 'WorkloadCoreDNSReady', { status: 'True' });
    expect(await condition()).toMatchObject({ status: 'True' });
    // A kubelet keeps the token with which it joined, and asks for another certificate with it. Tokens of Cluster API last for minutes.
    const tokens = ['--field-selector', 'type=bootstrap.kubernetes.io/token'];
    await cluster.kubectl(['delete', 'secrets', '--namespace', 'kube-system', ...tokens]);
    await cluster.bench.patch(name.name, { spec: { hibernate: true } });
    await cluster.bench.untilCondition(name.name, 'Awake', { status: 'False', reason: 'Hibernated' });
    const { notAfter } = await clientCertificate();
    console.log(`the certificate of the kubelet expires in ${Math.round((notAfter.getTime() - Date.now()) / 1000)} s`);
    await until('the certificate to expire', () => Date.now() > notAfter.getTime() + 5_000, 11 * 60_000);
    expect((await clientCertificate()).notAfter).toEqual(notAfter);

    await cluster.bench.patch(name.name, { spec: { hibernate: null } });
    await cluster.bench.untilCondition(name.name, 'Available', { status: 'True' });
    const named = await until(
      'the operator to name the Node',
      async () => {
        const found = await condition();
        return found?.reason === 'KubeletCertificatesExpired' ? found : undefined;
      },
      8 * 60_000,
    );
    console.log(`${named.reason}: ${named.message}`);
    expect(named).toMatchObject({
      reason: 'KubeletCertificatesExpired',
      message: expect.stringContaining(worker.name),
    });
    // It is not merely late.
    const node = await withHostedApi(cluster.instance, name, ({ client }) =>
      client.get<NodeObject>(Node, { name: worker.name }),
    );
    expect(lastReport(node)?.getTime()).toBeLessThan(notAfter.getTime());
    expect(await cluster.bench.condition(name.name, 'Available')).toMatchObject({ status: 'True' });
  },
  25 * 60_000,
);
