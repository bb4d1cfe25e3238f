import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { loadImage } from './access.ts';
import { instanceFrom } from './instance.ts';
import { kubectl, untilNamespaceTakesPods } from './kubectl.ts';
import { bundleOperator } from './operator-bundle.ts';
import { packOperatorImage } from './operator-image.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const image = 'hosted-control-plane/manager:test';
const namespace = 'operator-image-test';
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'image-'));
  await bundleOperator(join(directory, 'build'));
  await packOperatorImage(join(directory, 'image.tar'), image, join(directory, 'build'));
  await loadImage(instance, join(directory, 'image.tar'));
  await kubectl(instance, ['create', 'namespace', namespace]);
  const enforce = 'pod-security.kubernetes.io/enforce=restricted';
  await kubectl(instance, ['label', 'namespace', namespace, enforce]);
  await untilNamespaceTakesPods(instance, namespace);
});

afterAll(async () => {
  await kubectl(instance, ['delete', 'namespace', namespace]);
  await rm(directory, { recursive: true });
});

test('the operator starts from its image without root and with a read-only file system', async () => {
  await startPod('operator', [{ name: 'LOG_LEVEL', value: 'loud' }]);
  await kubectl(instance, [
    '--namespace',
    namespace,
    'wait',
    'pod/operator',
    '--for=jsonpath={.status.phase}=Failed',
    '--timeout=60s',
  ]);
  // it first reads its configuration: an error about it proves that everything is loaded
  expect(await kubectl(instance, ['--namespace', namespace, 'logs', 'operator'])).toContain('LOG_LEVEL');
});

async function startPod(name: string, env: { name: string; value: string }[]): Promise<void> {
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const container = { name: 'manager', image, env, securityContext };
  const spec = { restartPolicy: 'Never', containers: [container] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec };
  await kubectl(instance, ['apply', '--filename', '-'], JSON.stringify(pod));
}
