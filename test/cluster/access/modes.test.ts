import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { clustersDomain, gatewayAddress } from '../../tools/testbed/gateway-address.ts';
import { borrowJoinableCluster, type LentCluster } from '../workers/joinable-cluster.ts';
import { byEnvironment, byName, clientPod } from './client-pod.ts';
import { apiServerNames, defaultServiceAccount, inPod, startClient, whoAmI } from './in-cluster-client.ts';
import { servedCertificate } from './served-certificate.ts';

const pod = 'by-policy';

let cluster: LentCluster;
let host: string;

beforeAll(async () => {
  cluster = await borrowJoinableCluster();
  host = `hosted.${cluster.bench.namespace}.${clustersDomain}`;
});
afterAll(() => cluster?.close());

test('the serving certificate is valid for the names that pods use for the API server', async () => {
  const { subjectaltname } = await servedCertificate(gatewayAddress(cluster.instance), host);
  for (const name of ['kubernetes', 'kubernetes.default', ...apiServerNames]) {
    expect(subjectaltname?.split(', ')).toContain(`DNS:${name}`);
  }
});

describe('by policy, the default behind a gateway,', () => {
  beforeAll(() => startClient(cluster, pod, cluster.workers[0].name));
  afterAll(() => cluster.remove(clientPod(cluster.instance, pod, cluster.workers[0].name)));

  test('a pod gets the endpoint in its environment and connects as its service account', async () => {
    const environment = await inPod(cluster, pod, 'echo $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT');
    expect(environment).toBe(`${host}:443\n`);
    expect(await whoAmI(cluster, pod, byEnvironment)).toBe(defaultServiceAccount);
  });

  test('pods connect directly: there is no proxy on the nodes', async () => {
    expect(await cluster.kubectl(['get', 'daemonset', '--output', 'name'])).toBe('');
  });

  test.each(apiServerNames)('a pod connects through the tunnel as %s too, and gets its certificate', async (name) => {
    await cluster.bench.untilCondition('hosted', 'WorkloadKubernetesServiceReady', { status: 'True' });
    // kube-proxy may not have written the rules of the node yet.
    const user = await until('an answer', () => whoAmI(cluster, pod, byName(name), 10).catch(() => undefined));
    expect(user).toBe(defaultServiceAccount);
  });

  test('a pod discovers the issuer of its token at the endpoint', async () => {
    const path = '/.well-known/openid-configuration';
    const metadata = JSON.parse(await inPod(cluster, pod, `${byName(host)} get --raw ${path}`)) as object;
    expect(metadata).toMatchObject({ issuer: `https://${host}`, jwks_uri: `https://${host}:443/openid/v1/jwks` });
  });
});
