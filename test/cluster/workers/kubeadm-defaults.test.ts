import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { binDirectory, instanceFrom } from '../../tools/testbed/instance.ts';
import { run } from '../../tools/testbed/run.ts';
import { kubernetesVersion } from '../../support/workbench.ts';
import { RenderedPart } from '../../support/rendered-hosted-cluster.ts';
import { pinnedBy, renderedFor } from './pinned-images.ts';

const version = kubernetesVersion;
const changes = { spec: { version } };
const kubeadm = (...args: string[]) =>
  run([join(binDirectory(instanceFrom(process.env, inject('testbed'))), 'kubeadm'), ...args]);

test('kubelets are configured as the kubeadm of their version configures them, and request serving certificates', async () => {
  const printed = await kubeadm('config', 'print', 'init-defaults', '--component-configs', 'KubeletConfiguration');
  const documents = parseAllDocuments(printed).map((document): unknown => document.toJS());
  const theirs = documents.find((document) => (document as { kind: string }).kind === 'KubeletConfiguration');
  expect(parse(new RenderedPart('kubelet-config', changes).file('kubelet'))).toEqual({
    ...(withoutZeros(theirs) as object),
    serverTLSBootstrap: true,
  });
});

test('kubeadm accepts the configuration of the cluster', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kubeadm-config-'));
  try {
    const file = join(directory, 'config.yaml');
    await writeFile(file, new RenderedPart('kubeadm-config', changes).file('ClusterConfiguration'));
    expect(await kubeadm('config', 'validate', '--config', file)).toBe('ok\n');
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('images with their own versions are those that kubeadm pins', async () => {
  const own = join(binDirectory(instanceFrom(process.env, inject('testbed'))), 'kubeadm');
  expect(await pinnedBy(own, version)).toEqual(expect.arrayContaining(renderedFor(version)));
});

/** Go writes every field, also without a value. */
function withoutZeros(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, withoutZeros(member)] as const);
  return Object.fromEntries(entries.filter(([, member]) => !isZero(member)));
}

function isZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return ['', '0', '0s', 0, null].includes(value as string);
}
