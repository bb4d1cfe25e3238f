import { describe, expect, inject, test } from 'vitest';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { installAddon } from '../../testbed/addons.ts';
import { clustersDomain } from '../../testbed/gateway-address.ts';
import { instanceFrom, lanAddress, managementNumber } from '../../testbed/instance.ts';
import { addWorker } from '../../testbed/workers.ts';
import { byEnvironment, clientPod } from '../access/client-pod.ts';
import { openJoinableCluster } from './joinable-cluster.ts';

// What every way in must carry; all that a gateway carries is in join.test.ts.
const instance = instanceFrom(process.env, inject('testbed'));

interface ExposureStrategy {
  readonly what: string;
  readonly namespace: string;
  readonly spec: object;
  /** What the pods of the hosted cluster are told of their API server. */
  readonly told: string;
}

const host = `api.by-ingress.${clustersDomain}`;
const ingress = {
  controller: 'nginx',
  className: 'nginx',
  apiHost: host,
  konnectivityHost: `agents.by-ingress.${clustersDomain}`,
};
// Below 30086, where nobody is given a port by chance before all others are taken.
const nodePort = { address: lanAddress(instance, managementNumber), port: 30043, konnectivityPort: 30032 };

/** The hosted cluster's Service `kubernetes`, which leads to an address where there is one. */
const service = '10.128.0.1:443';

describe.each<ExposureStrategy>([
  { what: 'an ingress controller', namespace: 'by-ingress', spec: { exposure: { ingress } }, told: `${host}:443` },
  { what: 'a load balancer', namespace: 'by-load-balancer', spec: { exposure: { loadBalancer: {} } }, told: service },
  { what: 'node ports', namespace: 'by-node-port', spec: { exposure: { nodePort } }, told: service },
])('behind $what', ({ namespace, spec, told }) => {
  test('a worker joins, its pods reach the API server, and kubectl reaches them', async () => {
    const cluster = await openJoinableCluster(namespace, { ...single, ...spec }, (on) =>
      installAddon(on, 'traefik', () => {}),
    );
    try {
      const worker = await addWorker(cluster.instance, cluster.api);
      await cluster.apply(clientPod(cluster.instance, 'client', worker.name));
      await cluster.kubectl(['wait', 'pod/client', '--for=condition=Ready', '--timeout=60s']);

      // By exec, and so through konnectivity.
      const inPod = (script: string) => cluster.kubectl(['exec', 'client', '--', 'sh', '-c', script]);
      const address = 'echo $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT';
      expect((await until('exec to work', () => inPod(address).catch(() => undefined))).trim()).toBe(told);
      const whoAmI = `timeout 10 ${byEnvironment} auth whoami --output=jsonpath='{.status.userInfo.username}'`;
      // Addresses of Services are unreachable until the node's kube-proxy has written its first rules.
      const user = await until('the API server to answer the pod', () => inPod(whoAmI).catch(() => undefined));
      expect(user).toBe('system:serviceaccount:default:default');
    } finally {
      await cluster.close();
    }
  });
});
