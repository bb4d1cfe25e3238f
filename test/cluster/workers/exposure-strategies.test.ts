import { describe, expect, inject, test } from 'vitest';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { installAddon } from '../../testbed/addons.ts';
import { clustersDomain } from '../../testbed/gateway-address.ts';
import { instanceFrom, lanAddress, managementNumber } from '../../testbed/instance.ts';
import { addWorker } from '../../testbed/workers.ts';
import { byEnvironment, clientPod } from '../access/client-pod.ts';
import { openJoinableCluster } from './joinable-cluster.ts';

// Checks for every exposure strategy; join.test.ts has all checks behind a gateway.
const instance = instanceFrom(process.env, inject('testbed'));

interface ExposureStrategy {
  readonly what: string;
  readonly namespace: string;
  readonly spec: object;
  /** The environment of pods of the hosted cluster that names their API server. */
  readonly expected: string;
}

const host = `api.by-ingress.${clustersDomain}`;
const ingress = {
  controller: 'nginx',
  className: 'nginx',
  apiHost: host,
  konnectivityHost: `agents.by-ingress.${clustersDomain}`,
};
// Below 30086, where Kubernetes allocates no port until all others are in use.
const nodePort = { address: lanAddress(instance, managementNumber), port: 30043, konnectivityPort: 30032 };

/** The address of the hosted cluster's `kubernetes` Service, if there is one. */
const service = '10.128.0.1:443';

describe.each<ExposureStrategy>([
  { what: 'an ingress controller', namespace: 'by-ingress', spec: { exposure: { ingress } }, expected: `${host}:443` },
  {
    what: 'a load balancer',
    namespace: 'by-load-balancer',
    spec: { exposure: { loadBalancer: {} } },
    expected: service,
  },
  { what: 'node ports', namespace: 'by-node-port', spec: { exposure: { nodePort } }, expected: service },
])('behind $what', ({ namespace, spec, expected }) => {
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
      expect((await until('exec to work', () => inPod(address).catch(() => undefined))).trim()).toBe(expected);
      const whoAmI = `timeout 10 ${byEnvironment} auth whoami --output=jsonpath='{.status.userInfo.username}'`;
      // Addresses of Services are unreachable until the node's kube-proxy has written its first rules.
      const user = await until('the API server to answer the pod', () => inPod(whoAmI).catch(() => undefined));
      expect(user).toBe('system:serviceaccount:default:default');
    } finally {
      await cluster.close();
    }
  });
});
