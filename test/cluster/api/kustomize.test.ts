import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { Deployment } from '../../../constructs/api/resources.ts';
import { managerImage } from '../../../constructs/provider/image.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { kubectl } from '../../tools/testbed/kubectl.ts';
import { repository } from '../../tools/testbed/operator-bundle.ts';

const instance = instanceFrom(process.env, inject('testbed'));
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kustomize-'));
  await symlink(join(repository, 'dist'), join(directory, 'base'));
});
afterAll(() => rm(directory, { recursive: true }));

type Operator = KubeObject & { spec: { template: { spec: { containers: [{ image: string }] } } } };

const objectsIn = (text: string): KubeObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
const byName = (objects: readonly KubeObject[]): Map<string, KubeObject> =>
  new Map(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]));

/** What kubectl makes of a kustomization with `dist` as its base. */
async function built(changes: object): Promise<Map<string, KubeObject>> {
  await writeFile(join(directory, 'kustomization.yaml'), stringify({ resources: ['base'], ...changes }));
  return byName(objectsIn(await kubectl(instance, ['kustomize', directory])));
}

it('is the same installation', async () => {
  const file = await readFile(join(repository, 'dist/control-plane-components.yaml'), 'utf8');
  const given = byName(objectsIn(file));
  expect(given.size).toBeGreaterThan(5);
  expect(await built({})).toEqual(given);
});

it('gets the image of a kustomization above it', async () => {
  const [name = ''] = managerImage.split(':');
  const all = await built({ images: [{ name, newName: 'registry.example.com/manager', newTag: 'v9' }] });
  const operators = [...all.values()].filter(({ kind }) => kind === Deployment.kind) as Operator[];
  expect(operators.map(({ spec }) => spec.template.spec.containers[0].image)).toEqual([
    'registry.example.com/manager:v9',
  ]);
});

it('is the CRDs alone with the selector of the page', async () => {
  const file = join(repository, 'dist/control-plane-components.yaml');
  const chosen = ['--filename', file, '--selector', 'clusterctl.cluster.x-k8s.io'];
  const trial = ['--server-side', '--force-conflicts', '--dry-run=server'];
  const names = await kubectl(instance, ['apply', ...trial, ...chosen, '--output', 'name']);
  expect(names.trim().split('\n')).toEqual(Array(3).fill(expect.stringMatching(/^customresourcedefinition\./)));
});
