import { kubectl } from '../../tools/testbed/kubectl.ts';
import { until } from '../../support/until.ts';
import type { JoinableCluster } from '../workers/joinable-cluster.ts';
import { byEnvironment, clientPod } from './client-pod.ts';

/** The user as whom a {@link clientPod} asks its API server. */
export const defaultServiceAccount = 'system:serviceaccount:default:default';

/** Names by which programs in pods call the API server. */
export const apiServerNames = ['kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];

/** Starts a client on a node, and resolves when it reaches its API server: by then kube-proxy has written the rules of the node. */
export async function startClient(cluster: JoinableCluster, name: string, node: string): Promise<void> {
  await cluster.apply(clientPod(cluster.instance, name, node));
  await cluster.kubectl(['wait', `pod/${name}`, '--for=condition=Ready', '--timeout=180s']);
  const ask = () => whoAmI(cluster, name, byEnvironment, 10).catch(() => undefined);
  await until('the way to the API server', ask);
}

/** The user that the API server reports to the pod for this command. */
export function whoAmI(cluster: JoinableCluster, pod: string, command: string, limitSeconds = 60): Promise<string> {
  const script = `timeout ${limitSeconds} ${command} auth whoami --output=jsonpath='{.status.userInfo.username}'`;
  return inPod(cluster, pod, script);
}

/** The output of a script in a pod. */
export function inPod(cluster: JoinableCluster, pod: string, script: string): Promise<string> {
  return cluster.kubectl(['exec', pod, '--', 'sh', '-c', script]);
}

/** Changes the in-cluster access of cluster `hosted`, and resolves when the change is complete. */
export async function changeAccess({ bench, instance }: JoinableCluster, inClusterAccess: string): Promise<void> {
  await bench.patch('hosted', { spec: { inClusterAccess } });
  await until(
    `inClusterAccess ${inClusterAccess}`,
    async () => {
      const { metadata, status } = await bench.get('hosted');
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
    },
    180_000,
  );
  // A terminating pod may still get connections.
  const servers = ['get', 'pods', '--selector=app.kubernetes.io/component=api-server', '--output', 'name'];
  await until(
    'one API server to be left',
    async () => {
      const pods = await kubectl(instance, ['--namespace', bench.namespace, ...servers]);
      return pods.split('\n').filter((pod) => pod !== '').length === 1;
    },
    180_000,
  );
}
