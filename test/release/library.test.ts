import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import packageManifest from '../../package.json' with { type: 'json' };
import { repository } from '../testbed/operator-bundle.ts';
import { run } from '../testbed/run.ts';
import { packLibrary } from './npm-package.ts';

// A project outside of the repository: it has the package, what that depends on, and nothing else.
let project: string;
let description: { dependencies: Record<string, string>; peerDependencies: Record<string, string> };
const modules = () => join(project, 'node_modules');

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'consumer-'));
  const archive = await packLibrary(join(project, 'work'), project);
  const library = join(modules(), packageManifest.name);
  await mkdir(library, { recursive: true });
  await run(['tar', '--extract', '--file', archive, '--directory', library, '--strip-components=1']);
  description = JSON.parse(await readFile(join(library, 'package.json'), 'utf8')) as typeof description;
  const installed = Object.keys({ ...description.dependencies, ...description.peerDependencies });
  for (const name of [...installed, '@types/node', 'undici-types']) {
    await mkdir(dirname(join(modules(), name)), { recursive: true });
    await symlink(join(repository, 'node_modules', name), join(modules(), name));
  }
  await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
});
afterAll(() => rm(project, { recursive: true }));

const options = ['--module', 'nodenext', '--target', 'es2024', '--strict', '--noEmit', '--types', 'node'];
const compiler = join(repository, 'node_modules/.bin/tsc');
/** Its errors are on standard output. */
const typeCheck = (file: string) =>
  run(['sh', '-c', 'exec "$0" "$@" >&2', compiler, ...options, file], { cwd: project });

/** The app of a platform that has its clusters in cdk8s. */
const app = `
import { App } from 'cdk8s';
import { ControlPlaneChart, networkOf, parseHostedControlPlane } from '${packageManifest.name}';

const parsed = parseHostedControlPlane({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'HostedControlPlane',
  metadata: { name: 'prod', namespace: 'team-a' },
  spec: { version: 'v1.36.3', exposure: { loadBalancer: {} } },
});
if (!parsed.valid) throw new Error(parsed.message);
const app = new App();
new ControlPlaneChart(app, 'prod', {
  cluster: { name: 'prod', namespace: 'team-a', network: networkOf(undefined), spec: parsed.hostedControlPlane.spec },
  facts: {
    endpoint: { host: '192.0.2.10', port: 6443 },
    konnectivityEndpoint: { host: '192.0.2.10', port: 8132 },
    certificates: {},
    mounts: {},
  },
});
console.log(app.synthYaml());
`;

test('an app of somebody else type-checks with the library, and synthesises', async () => {
  await writeFile(join(project, 'app.ts'), app);
  await typeCheck('app.ts');
  const yaml = await run([process.execPath, 'app.ts'], { cwd: project });
  const kinds = yaml.split(/^---$/m).map((document) => (parse(document) as { kind: string }).kind);
  expect(kinds).toEqual(expect.arrayContaining(['Deployment', 'Service', 'NetworkPolicy']));
});

test('a misspelt property is a type error', async () => {
  await writeFile(join(project, 'misspelt.ts'), app.replace('facts: {', 'fact: {'));
  await expect(typeCheck('misspelt.ts')).rejects.toThrow("'fact' does not exist in type 'ControlPlaneChartProps'");
});

test('a misspelt field of the API is an error that names the right one', async () => {
  await writeFile(join(project, 'field.ts'), app.replace('exposure: {', 'replicass: 3, exposure: {'));
  await expect(run([process.execPath, 'field.ts'], { cwd: project })).rejects.toThrow(
    'spec.replicass: is no field of the API: did you mean replicas?',
  );
});

test('an app has the classes of cdk8s once, whatever its version of them', () => {
  expect(Object.keys(description.peerDependencies)).toEqual(['cdk8s', 'cdk8s-plus-30', 'constructs']);
  expect(Object.keys(description.dependencies)).not.toContain('cdk8s');
});
