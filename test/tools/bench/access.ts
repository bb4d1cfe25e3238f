import { isIP } from 'node:net';
import { join } from 'node:path';
import { Service } from '../../../constructs/api/resources.ts';
import { kubernetesService } from '../../../constructs/workload/in-cluster-access/kubernetes-service.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { single, Workbench } from '../../support/workbench.ts';
import { until } from '../../support/until.ts';
import { installAddon } from '../testbed/addons.ts';
import { gatewayAddress } from '../testbed/gateway-address.ts';
import { hostedKubectl } from '../testbed/hosted-api.ts';
import { kubeconfigPath, type Instance } from '../testbed/instance.ts';
import { inMachine } from '../testbed/machine.ts';
import { gatewayName } from '../testbed/traefik-objects.ts';
import { addWorker, removeWorker, withHostedApi, type Worker } from '../testbed/workers.ts';
import { benchNamespace, type BenchTestbed } from './bench-testbed.ts';
import { plainCluster, untilPlainCluster } from './plain-cluster.ts';
import type { RequestPlan, RequestTarget, RequestTimes } from './request-times.ts';

/**
 * Requests by one kind of in-cluster access compared with those directly to the endpoint, from the same node in the same minute.
 */
export interface AccessTimes {
  /** `Service` stands for the Service `kubernetes` of a cluster with `Policy`. */
  readonly access: 'Policy' | 'Proxy' | 'LoadBalancer' | 'Service';
  readonly direct: RequestTimes;
  readonly byAccess: RequestTimes;
}

type RequestQuestion = Omit<RequestPlan, keyof BenchTestbed['extent']['requests']>;

const cluster = 'access';
const serviceName = 'kubernetes.default.svc';
const node = join(import.meta.dirname, '../../../node_modules/.bin/node');
const program = join(import.meta.dirname, 'request-times.ts');

/** Measures each kind on one cluster behind the testbed's gateway. The endpoint through that gateway counts as direct. */
export async function measureAccess({ instance, extent, report }: BenchTestbed): Promise<AccessTimes[]> {
  await installAddon(instance, 'traefik', report);
  const bench = await Workbench.open(kubeconfigPath(instance), benchNamespace);
  const plan = async (names: readonly string[], name = cluster) => ({
    ...(await whatToAsk(instance, bench, names, name)),
    ...extent.requests,
  });
  try {
    await bench.create(cluster, { ...single, exposure: { gateway: gatewayName }, inClusterAccess: 'Proxy' });
    await bench.untilReady(cluster);
    const worker = await addWorker(instance, { namespace: benchNamespace, name: cluster });
    // With policies pods connect to the endpoint directly: the second row of the endpoint shows the random variation.
    const [direct, policy, proxy] = await timesOf(worker, await plan(['direct', 'Policy', 'Proxy']));
    await bench.patch(cluster, { spec: { inClusterAccess: 'LoadBalancer' } });
    await untilSettled(bench);
    const [alone, balanced] = await timesOf(worker, await plan(['direct', 'LoadBalancer']));
    await removeWorker(instance, worker.name);
    await bench.delete(cluster, 120_000);
    const [endpoint, service] = await serviceTimes(instance, bench, plan);
    if (!direct || !policy || !proxy || !alone || !balanced || !endpoint || !service)
      throw new Error('a target was not measured');
    return [
      { access: 'Policy', direct, byAccess: policy },
      { access: 'Proxy', direct, byAccess: proxy },
      { access: 'LoadBalancer', direct: alone, byAccess: balanced },
      { access: 'Service', direct: endpoint, byAccess: service },
    ];
  } finally {
    await bench.client.connection.close();
  }
}

/** On a cluster whose endpoint needs no host name, so that no tunnel is on the way. */
async function serviceTimes(
  instance: Instance,
  bench: Workbench,
  plan: (names: readonly string[], name: string) => Promise<RequestPlan>,
): Promise<RequestTimes[]> {
  const name = plainCluster;
  await untilPlainCluster(bench);
  const worker = await addWorker(instance, { namespace: benchNamespace, name });
  await bench.untilCondition(name, 'WorkloadKubernetesServiceReady', { status: 'True' });
  const times = await timesOf(worker, await plan(['address', 'Service'], name));
  await removeWorker(instance, worker.name);
  await bench.delete(name, 120_000);
  return times;
}

async function timesOf(worker: Worker, plan: RequestPlan): Promise<RequestTimes[]> {
  const measured = async (changes: Partial<RequestPlan> = {}) => {
    const input = JSON.stringify({ ...plan, ...changes });
    return JSON.parse(await inMachine(worker.machine, [node, program], { input })) as RequestTimes[];
  };
  // kube-proxy and the proxy may need a moment after the node is Ready.
  let last: unknown;
  const once = () => measured({ rounds: 1, onOpenConnection: 1 }).catch((error: unknown) => void (last = error));
  await until('every way to answer', once, 60_000).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${String(last)}`, { cause: last });
  });
  return measured();
}

async function whatToAsk(
  instance: Instance,
  bench: Workbench,
  names: readonly string[],
  name: string,
): Promise<RequestQuestion> {
  const { host, port } = (await bench.get(name)).spec.controlPlaneEndpoint ?? { host: '', port: 0 };
  // An address is no name for TLS to send.
  const endpoint = isIP(host)
    ? { host, port, serverName: serviceName }
    : { host: gatewayAddress(instance), port, serverName: host };
  return withHostedApi(instance, { namespace: bench.namespace, name }, async (api) => {
    const { client, certificateAuthority } = api;
    await client.apply(readers, { fieldManager: 'bench', force: true });
    const token = (await hostedKubectl(instance, api, ['create', 'token', 'default'])).trim();
    const service = await client.get<KubeObject & { spec: { clusterIP: string } }>(Service, kubernetesService);
    const inCluster = { host: service.spec.clusterIP, port: 443, serverName: serviceName };
    const targets = names.map((target): RequestTarget => {
      const isEndpoint = ['direct', 'Policy', 'address'].includes(target);
      return { name: target, ...(isEndpoint ? endpoint : inCluster) };
    });
    return { targets, certificateAuthority, path, token };
  });
}

/** A cheap request of a pod that reads an object. */
const path = '/api/v1/namespaces/default/configmaps/kube-root-ca.crt';
const readers = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'readers', namespace: 'default' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
};

async function untilSettled(bench: Workbench): Promise<void> {
  await until(
    'the other access to be there',
    async () => {
      const { metadata, status } = await bench.get(cluster);
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
    },
    120_000,
  );
}
