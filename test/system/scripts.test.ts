import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { faultsPage, recordFault } from '../support/fault-table.ts';
import { freePort } from '../support/free-port.ts';
import { certificatesPage, generatedParts } from '../support/generated-pages.ts';
import { npmRun, runScript, startScript } from '../support/npm-run.ts';
import { ShippedRights } from '../support/shipped-rights.ts';
import { until } from '../support/until.ts';
import { Workbench } from '../support/workbench.ts';
import { repository } from '../testbed/operator-bundle.ts';
import { run } from '../testbed/run.ts';

let directory: string;
const path = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'scripts-'));
});
afterAll(() => rm(directory, { recursive: true }));

describe('scripts that write into the repository, on copies', () => {
  test('certificates writes the tables of its page as they are', async () => {
    const page = join(repository, certificatesPage);
    await cp(page, path('README.md'));
    await runScript('certificates', [path('README.md')]);
    expect(await readFile(path('README.md'), 'utf8')).toBe(await readFile(page, 'utf8'));
  });

  test('docs writes the pages as they are', async () => {
    const pages = Object.keys(generatedParts);
    for (const page of pages) await cp(join(repository, page), path(join('pages', page)));
    await runScript('docs', [path('pages')]);
    for (const page of pages) {
      expect(await readFile(path(join('pages', page)), 'utf8')).toBe(await readFile(join(repository, page), 'utf8'));
    }
  });

  test('faults writes recorded faults into its page', async () => {
    const page = join(repository, faultsPage);
    await cp(page, path('README.md'));
    const fault = { fault: 'a leader is killed', observed: 'another is elected', recoverySeconds: 1, dataLost: 'none' };
    await recordFault(fault, path('faults'));
    await runScript('faults', [path('faults'), path('README.md')]);
    const text = await readFile(path('README.md'), 'utf8');
    expect(text).toContain('| a leader is killed | another is elected | 1.0 s | none |');
    const before = await readFile(page, 'utf8');
    expect(text.split('<!-- faults -->')[0]).toBe(before.split('<!-- faults -->')[0]);
  });

  test('faults does not change its page if no test has recorded any', async () => {
    const page = join(repository, faultsPage);
    await cp(page, path('README.md'));
    const { code, output } = await npmRun('faults', [path('none'), path('README.md')]);
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining('no fault is recorded') as string,
    });
    expect(await readFile(path('README.md'), 'utf8')).toBe(await readFile(page, 'utf8'));
  });

  test('test:durations stores the durations of the last run', async () => {
    await writeFile(path('measured.json'), '{ "test/run/files.test.ts": 7000 }\n');
    await runScript('test:durations', [path('measured.json'), path('kept.json')]);
    expect(JSON.parse(await readFile(path('kept.json'), 'utf8'))).toMatchObject({ 'test/run/files.test.ts': 7000 });
  });

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

  test('synth renders dist as it is', async () => {
    await runScript('synth', ['--output', relative(repository, path('dist'))]);
    const [written, present] = [path('dist'), join(repository, 'dist')];
    expect((await readdir(written, { recursive: true })).sort()).toEqual(
      (await readdir(present, { recursive: true })).sort(),
    );
    await expect(run(['diff', '--recursive', present, written])).resolves.toBe('');
  });

  test('format does not change the repository', async () => {
    await writeFile(path('badly.ts'), 'export   const a = [1,2]');
    await cp(join(repository, '.oxfmtrc.json'), path('.oxfmtrc.json'));
    await runScript('format', [path('badly.ts')]);
    expect(await readFile(path('badly.ts'), 'utf8')).toBe('export const a = [1, 2];\n');
  });

  test('import generates imports as they are', async () => {
    const imports = join(repository, 'imports');
    await runScript('import', [path('imports')]);
    await expect(
      run(['diff', '--exclude', 'README.md', '--exclude', 'definitions', imports, path('imports')]),
    ).resolves.toBe('');
  });
});

describe('the product from its sources', () => {
  test('build creates a command line that runs', async () => {
    await runScript('build', [path('build')]);
    expect(await run([process.execPath, join(path('build'), 'hcp.js'), '--help'])).toContain('hcp');
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

  test('hcp lists its commands', async () => {
    expect(await runScript('hcp', ['--help'])).toContain('certificates');
  });

  test('start runs the operator until a signal', async () => {
    const bench = await Workbench.open(inject('kubeconfig'), 'scripts');
    const port = await freePort();
    const args = ['--namespace', 'scripts', '--health-port', String(port), '--metrics-port', '0'];
    const { client, namespace } = bench;
    const place = { client, kubeconfig: inject('kubeconfig'), namespace };
    const rights = await ShippedRights.grant({ ...place, watchNamespace: namespace });
    const operator = startScript('start', args, { KUBECONFIG: rights.kubeconfig, LEADER_ELECTION: 'false' });
    try {
      await until(
        'the operator to be ready',
        async () => {
          const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
          return answer?.ok;
        },
        180_000,
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${operator.output()}`, { cause: error });
      });
    } finally {
      operator.signal('SIGTERM');
      await operator.ended;
      await rights.end();
      await bench.close();
    }
    expect(operator.output()).toContain('stopping');
  });
});

test('test:again runs a file as often as requested', async () => {
  expect(await runScript('test:again', ['test/bench/figure.test.ts', '--times', '1', '--busy', '1'])).toContain(
    '1 of 1 runs passed beside 1 busy loops',
  );
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
