import { until } from '../../support/until.ts';
import { busyboxImage } from '../../tools/testbed/images.ts';
import type { JoinableCluster } from './joinable-cluster.ts';

const labels = { app: 'web' };

/** A Service in front of {@link webServer}, on port 80. */
export const webService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default' },
  spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
};

/** Two replicas on two nodes. The page of each is the name of its node, which it also logs. */
export const webServer = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: labels },
          },
        ],
        containers: [
          {
            name: 'web',
            image: busyboxImage,
            env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
            command: [
              'sh',
              '-c',
              'echo "serving on $NODE"; mkdir /www && echo $NODE >/www/index.html; exec httpd -f -p 8080 -h /www',
            ],
            readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
};

/** Starts {@link webServer} behind its Service, and resolves with the names of its pods once the API server reaches both of them. */
export async function startWebServer(cluster: JoinableCluster): Promise<readonly string[]> {
  await cluster.apply(webServer, webService);
  await cluster.kubectl(['rollout', 'status', 'deployment/web', '--timeout=180s']);
  for (const name of ['coredns', 'konnectivity-agent']) await untilAddOnRuns(cluster, name);
  const names = ['get', 'pods', '--selector=app=web', '--output', 'jsonpath={.items[*].metadata.name}'];
  const pods = (await cluster.kubectl(names)).split(' ');
  // Each kubelet serves once it has its serving certificate, and one may get it later than the other.
  for (const pod of pods) {
    const hasLog = () =>
      cluster.kubectl(['logs', pod]).then(
        () => true,
        () => false,
      );
    await until(`the kubelet of ${pod} to be reached`, hasLog);
  }
  return pods;
}

/** Resolves once a Deployment of the operator is there, and all of its pods run. */
export async function untilAddOnRuns(cluster: Pick<JoinableCluster, 'kubectl'>, deployment: string): Promise<void> {
  const inSystem = ['--namespace', 'kube-system'];
  const isThere = async () =>
    (await cluster.kubectl([...inSystem, 'get', 'deployment', deployment, '--ignore-not-found'])) !== '';
  await until(`Deployment ${deployment}`, isThere);
  await cluster.kubectl([...inSystem, 'rollout', 'status', `deployment/${deployment}`, '--timeout=180s']);
}
