import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { renderUserFiles } from '../../constructs/distribution.ts';
import { renderFile } from '../../constructs/rendered-file.ts';
import { readSampleFiles } from '../../constructs/sample-files.ts';
import { parseCommandLine } from '../../reconciler/cli/command-line.ts';
import { hcp as program } from '../../reconciler/cli/commands.ts';
import { plainView } from '../../reconciler/cli/view.ts';
import { repository } from '../support/pages.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'manifests-'));
});
afterEach(() => rm(directory, { recursive: true }));

const samples = join(repository, 'test/clusters');
const withoutHeader = (text: string) => text.replace(/^(# .*\n)+/, '');

/** What `hcp` prints, which needs no cluster for this. */
async function hcp(...args: string[]): Promise<string> {
  const line = await parseCommandLine(args, program);
  if (line.kind !== 'offline') throw new Error(`${args.join(' ')} needs a cluster`);
  const printed: string[] = [];
  await line.run({
    ...plainView,
    print: (text) => void printed.push(text),
    info: () => {},
    confirm: async () => undefined,
  });
  return `${printed.join('\n')}\n`;
}

it.each(await readSampleFiles())('a file of a user becomes the same objects as sample $name', async (sample) => {
  const ofSynth = async (file: string) => withoutHeader(await readFile(join(repository, 'dist/samples', file), 'utf8'));
  const rendered = (place: 'management' | 'hosted') =>
    withoutHeader(renderFile({ file: 'mine.yaml', content: sample.content }, place));
  expect(rendered('management')).toBe(await ofSynth(`${sample.name}.k8s.yaml`));
  expect(rendered('hosted')).toBe(await ofSynth(`${sample.name}.hosted.k8s.yaml`));
});

it('hcp render prints the bytes that synth writes for a folder', async () => {
  await cp(join(samples, 'dev.yaml'), join(directory, 'dev.yaml'));
  await writeFile(join(directory, 'notes.txt'), 'no manifest');
  const files = renderUserFiles(await readSampleFiles(directory));
  expect(files).toEqual([
    { path: 'dev.k8s.yaml', content: await hcp('render', join(directory, 'dev.yaml')) },
    { path: 'dev.hosted.k8s.yaml', content: await hcp('render', join(directory, 'dev.yaml'), '--hosted') },
  ]);
});

const dev = (await readSampleFiles()).find(({ name }) => name === 'dev')?.content ?? '';

it.each([
  ['lacks its HostedControlPlane', dev.split(/^---$/m)[0] ?? '', 'mine.yaml: a Cluster and its HostedControlPlane are'],
  ['is no YAML', 'kind: [Cluster\n', /^mine\.yaml: .*flow/i],
  ['has a Cluster without a name', 'kind: Cluster\nspec: {}\n', /^mine\.yaml: Cluster: .*metadata/],
  [
    'has an unknown version',
    dev.replace(/version: v1\.\d+\.\d+/, 'version: v1.12.0'),
    'this release does not support that minor version',
  ],
])('a file that %s is named, with what to do', (_, text, message) => {
  expect(() => renderUserFiles([{ name: 'mine', content: text }])).toThrow(message);
});

it("README's example renders, with hosts of an example, and its images are those of its pods, its restore and its workers", async () => {
  const page = await readFile(join(repository, 'README.md'), 'utf8');
  const example = /```yaml\n(kind: Cluster[\s\S]*?|apiVersion[\s\S]*?)```/.exec(page)?.[1] ?? '';
  await writeFile(join(directory, 'prod.yaml'), example);
  const rendered = await hcp('render', join(directory, 'prod.yaml'));
  expect(rendered).toContain('# It does not have Gateway capi-system/capi: hosts below example.com are examples.');
  expect(rendered).toContain('prod.team-a.example.com');
  const images = (await hcp('images', join(directory, 'prod.yaml'))).trim().split('\n');
  expect(images.map((image) => image.replace(/:[^:]*$/, ''))).toEqual([
    'docker.io/library/haproxy',
    'gcr.io/etcd-development/etcd',
    'localhost/hosted-control-plane/manager',
    'registry.k8s.io/coredns/coredns',
    'registry.k8s.io/etcd',
    'registry.k8s.io/kas-network-proxy/proxy-agent',
    'registry.k8s.io/kas-network-proxy/proxy-server',
    'registry.k8s.io/kube-apiserver',
    'registry.k8s.io/kube-controller-manager',
    'registry.k8s.io/kube-proxy',
    'registry.k8s.io/kube-scheduler',
  ]);
  for (const [, image] of rendered.matchAll(/^ +image: (\S+)$/gm)) expect(images).toContain(image);
});

it('a folder without files is said to be empty, and a missing file cannot be read', async () => {
  await expect(readSampleFiles(directory)).rejects.toThrow('has no .yaml files');
  await expect(hcp('render', join(directory, 'none.yaml'))).rejects.toThrow('none.yaml cannot be read');
  await expect(hcp('render')).rejects.toThrow('set one file');
});
