import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import packageManifest from '../../../../package.json' with { type: 'json' };
import { runScript } from '../../../support/npm-run.ts';
import { repository } from '../../../tools/testbed/operator-bundle.ts';
import { run } from '../../../tools/testbed/run.ts';
import { installLibrary, type InstalledLibrary } from '../../../tools/release/installed-library.ts';

// A project outside of the repository: it has the package, what that depends on, and nothing else.
let project: string;
let library: InstalledLibrary;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'consumer-'));
  library = await installLibrary(project);
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

const typed = `
import type { HostedControlPlane, HostedControlPlaneSpec, OpenStackVariables } from '${packageManifest.name}';

export const replicasOf = ({ replicas }: HostedControlPlaneSpec): number => replicas;
export const membersOf = ({ spec }: HostedControlPlane): number | undefined => spec.etcd.replicas;
export const availableIn = ({ status }: HostedControlPlane): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Available')?.status;
export const variables: OpenStackVariables = { workerRootDisk: 25 };
`;

test.each([
  ['has its type', typed, undefined],
  ['of another type is a type error', typed.replace(': number => replicas', ': string => replicas'), 'TS2322'],
  ['that is misspelt is a type error', typed.replace('etcd.replicas', 'etcd.replicass'), 'TS2551'],
  [
    'of the status that is misspelt is a type error',
    typed.replace('status?.conditions', 'status?.condition'),
    'TS2551',
  ],
  ['of the variables that is misspelt is a type error', typed.replace('workerRootDisk', 'workerRootDisc'), 'TS2561'],
])('a field of the API %s', async (_, source, error) => {
  await writeFile(join(project, 'typed.ts'), source);
  const errors = await typeCheck('typed.ts').then(
    () => '',
    (failure: unknown) => String(failure),
  );
  expect(errors.match(/error (TS\d+)/)?.[1]).toBe(error);
});

test('a misspelt field of the API is an error that names the right one', async () => {
  await writeFile(join(project, 'field.ts'), app.replace('exposure: {', 'replicass: 3, exposure: {'));
  await expect(run([process.execPath, 'field.ts'], { cwd: project })).rejects.toThrow(
    'spec.replicass: is no field of the API: did you mean replicas?',
  );
});

test('an app has the classes of cdk8s once, whatever its version of them', () => {
  expect(Object.keys(library.description.peerDependencies)).toEqual(['cdk8s', 'cdk8s-plus-30', 'constructs']);
  expect(Object.keys(library.description.dependencies)).not.toContain('cdk8s');
});

test('its exports, and the types that these name, are those of constructs/library.api.md', async () => {
  const report = join(project, 'library.api.md');
  await runScript('api-report', [report, library.directory]);
  const [present, kept] = await Promise.all(
    [report, join(repository, 'constructs/library.api.md')].map((file) => readFile(file, 'utf8')),
  );
  expect(present, 'a line with - is lost, which may break apps; `npm run api-report` writes the report').toBe(kept);
});
