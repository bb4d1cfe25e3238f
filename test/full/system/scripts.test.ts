import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { npmRun, runScript } from '../../support/npm-run.ts';
import { repository } from '../../tools/testbed/operator-bundle.ts';
import { run } from '../../tools/testbed/run.ts';

let directory: string;
const path = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'scripts-'));
});
afterAll(() => rm(directory, { recursive: true }));

describe('scripts of package.json', () => {
  test('synth renders the files of a folder of a user', async () => {
    const folder = { HCP_MANIFESTS: join(repository, 'test/clusters') };
    await runScript('synth', ['--output', relative(repository, path('mine'))], folder);
    const name = 'production.k8s.yaml';
    const objectsIn = async (file: string) => (await readFile(file, 'utf8')).replace(/^(# .*\n)+/, '');
    expect(await objectsIn(join(path('mine'), name))).toBe(await objectsIn(join(repository, 'dist/samples', name)));
  });

  test('synth says which file of a user is invalid, without a stack of the constructs', async () => {
    const folder = path('invalid');
    await mkdir(folder);
    await writeFile(join(folder, 'mine.yaml'), 'kind: ConfigMap\n');
    const { code, output } = await npmRun('synth', ['--output', relative(repository, path('none'))], {
      HCP_MANIFESTS: folder,
    });
    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringMatching(/^mine\.yaml: .*Cluster$/m) });
    expect(output).not.toContain('constructs/distribution');
  });

  test('import generates imports as they are', async () => {
    const imports = join(repository, 'imports');
    await runScript('import', [path('imports')]);
    await expect(
      run(['diff', '--exclude', 'README.md', '--exclude', 'definitions', imports, path('imports')]),
    ).resolves.toBe('');
  });

  test('image packs an archive with the given name', async () => {
    expect(await runScript('image', ['example.org/operator:v1', path('image')])).toMatch(
      /image\.tar: example\.org\/operator:v1 sha256:[0-9a-f]{64}, \d+ MB/,
    );
    expect(await run(['tar', '--extract', '--to-stdout', '--file', path('image/image.tar'), 'index.json'])).toContain(
      'example.org/operator:v1',
    );
  });

  test('release refuses a version that is not that of the sources', async () => {
    expect(await npmRun('release', ['99.0.0', '--directory', path('releases')])).toMatchObject({
      code: 1,
      output: expect.stringMatching(
        /package\.json has version \S+, not 99\.0\.0: set it by npm version 99\.0\.0/,
      ) as string,
    });
  });
});

describe('testbed', () => {
  const testbed = (...args: string[]) => npmRun('testbed', args, { HCP_TESTBED: inject('testbed') });

  test.for<[string, string[], number, RegExp]>([
    ['up does not change a running testbed', ['up'], 0, /is up already/],
    ['status lists what runs, and where', ['status'], 0, /is up\n(.*\n)* +machine m 172\.30\.\d+\.2: .*kube-apiserver/],
    ['kubeconfig names a file', ['kubeconfig'], 0, /\/kubeconfig\n$/],
    ['logs names every log', ['logs'], 0, /^kube-apiserver$/m],
    ['logs prints the end of one', ['logs', 'kube-apiserver'], 0, /\bI\d{4} /],
    ['logs refuses an unknown name', ['logs', 'missing'], 1, /no log is called missing; there are\n/],
    ['addon lists the add-ons', ['addon'], 2, /traefik/],
    ['worker prints its usage', ['worker', 'add'], 2, /usage: .* worker add\|rm CLUSTER/],
    ['worker removes nothing if there is nothing', ['worker', 'rm', 'missing'], 0, /missing has no workers/],
    ['any other command prints the usage', ['upp'], 2, /^usage: npm run testbed -- up \| status/],
  ])('%s', async ([, args, expected, answer]) => {
    const { code, output } = await testbed(...args);
    expect(output).toMatch(answer);
    expect(code).toBe(expected);
  });
});
