import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { haproxyImage } from '../../../tools/testbed/haproxy-image.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';
import { kubectl, untilNamespaceTakesPods } from '../../../tools/testbed/kubectl.ts';
import { until } from '../../../tools/testbed/progress.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const namespace = 'haproxy-image-test';

const inNamespace = (...args: string[]): Promise<string> => kubectl(instance, ['--namespace', namespace, ...args]);

const config = `
defaults
  mode http
  timeout connect 1s
  timeout client 5s
  timeout server 5s
frontend hello
  bind :8080
  http-request return status 200 content-type text/plain string hello
`;

beforeAll(async () => {
  const enforce = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: enforce } });
  await untilNamespaceTakesPods(instance, namespace);
  await apply(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config' }, data: { 'haproxy.cfg': config } },
    pod(),
  );
  await inNamespace('wait', 'pod/haproxy', '--for=condition=Ready', '--timeout=60s');
});

afterAll(async () => {
  await kubectl(instance, ['delete', 'namespace', namespace, '--wait=false']);
});

test('HAProxy answers from its image without root and with a read-only file system', async () => {
  const address = await inNamespace('get', 'pod', 'haproxy', '--output', 'jsonpath={.status.podIP}');
  const page = () => fetch(`http://${address}:8080/`, { signal: AbortSignal.timeout(3_000) });
  const answer = await until({ what: 'an answer of HAProxy', timeoutMs: 60_000 }, page);
  expect(await answer.text()).toBe('hello');
});

test('its image has a working shell, and a checker of its configuration', async () => {
  const script = 'command -v haproxy && haproxy -c -f /usr/local/etc/haproxy/haproxy.cfg';
  expect(await inNamespace('exec', 'haproxy', '--', '/bin/sh', '-c', script)).toContain('/usr/local/sbin/haproxy\n');
});

function pod(): object {
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
  };
  const container = {
    name: 'haproxy',
    image: haproxyImage,
    readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
    securityContext,
    volumeMounts: [{ name: 'config', mountPath: '/usr/local/etc/haproxy' }],
  };
  const spec = {
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    terminationGracePeriodSeconds: 0,
    containers: [container],
    volumes: [{ name: 'config', configMap: { name: 'config' } }],
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'haproxy' }, spec };
}

function apply(...objects: object[]): Promise<string> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  return kubectl(instance, ['--namespace', namespace, 'apply', '--filename', '-'], list);
}
