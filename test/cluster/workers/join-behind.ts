import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { installAddon } from '../../tools/testbed/addons.ts';
import { addWorker } from '../../tools/testbed/workers.ts';
import { byEnvironment, clientPod } from '../access/client-pod.ts';
import { openJoinableCluster } from './joinable-cluster.ts';

/** A control plane that workers reach in one way. */
export interface ExposureStrategy {
  readonly namespace: string;
  readonly spec: object;
}

/** The address of the hosted cluster's `kubernetes` Service, if there is one. */
export const kubernetesService = '10.128.0.1:443';

/** What a pod on a worker says: the address of the API server in its environment, and as whom it is known there. */
export interface PodAccess {
  readonly address: string;
  readonly user: string;
}

/** What every pod says without a ServiceAccount of its own. */
export const accessAt = (address: string): PodAccess => ({ address, user: 'system:serviceaccount:default:default' });

/** A worker joins, and a pod on it reaches the API server. The check for every strategy; join.test.ts has all behind a gateway. */
export async function joinBehind({ namespace, spec }: ExposureStrategy): Promise<PodAccess> {
  const cluster = await openJoinableCluster(namespace, { ...single, ...spec }, (on) =>
    installAddon(on, 'traefik', () => {}),
  );
  try {
    const worker = await addWorker(cluster.instance, cluster.api);
    await cluster.apply(clientPod(cluster.instance, 'client', worker.name));
    await cluster.kubectl(['wait', 'pod/client', '--for=condition=Ready', '--timeout=60s']);

    // By exec, and so through konnectivity.
    const inPod = (script: string) => cluster.kubectl(['exec', 'client', '--', 'sh', '-c', script]);
    const environment = 'echo $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT';
    const address = (await until('exec to work', () => inPod(environment).catch(() => undefined))).trim();
    const whoAmI = `timeout 10 ${byEnvironment} auth whoami --output=jsonpath='{.status.userInfo.username}'`;
    // Addresses of Services are unreachable until the node's kube-proxy has written its first rules.
    const user = await until('the API server to answer the pod', () => inPod(whoAmI).catch(() => undefined));
    return { address, user };
  } finally {
    await cluster.close();
  }
}
