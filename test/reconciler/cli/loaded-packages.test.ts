import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repository } from '../../support/pages.ts';
import { run } from '../../tools/testbed/run.ts';

let directory: string;
let server: Server;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'loaded-'));
  server = createServer((_, response) => {
    const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items: [] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(list));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cluster = {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    'insecure-skip-tls-verify': true,
  };
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'it',
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
    clusters: [{ name: 'it', cluster }],
    users: [{ name: 'it', user: {} }],
  };
  await writeFile(join(directory, 'kubeconfig'), JSON.stringify(kubeconfig));
  await writeFile(
    join(directory, 'record.mjs'),
    `import { registerHooks } from 'node:module';
     import { writeFileSync } from 'node:fs';
     const loaded = new Set();
     registerHooks({ load(url, context, next) {
       const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1];
       if (name) loaded.add(name);
       return next(url, context);
     } });
     process.once('exit', () => writeFileSync(process.env.LOADED, JSON.stringify([...loaded])));`,
  );
});
afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true });
});

/** The libraries whose code `hcp` has read when this line is done, and what it has printed. */
async function loadedBy(
  ...args: readonly string[]
): Promise<{ readonly packages: string[]; readonly printed: string }> {
  const file = join(directory, 'loaded.json');
  const preload = ['--import', join(directory, 'record.mjs')];
  const printed = await run([process.execPath, ...preload, 'reconciler/cli/main.ts', ...args], {
    cwd: repository,
    env: { ...process.env, LOADED: file },
  });
  return { packages: JSON.parse(await readFile(file, 'utf8')) as string[], printed };
}

it.each(['--version', 'help', 'help list'])('%s loads no large library', async (line) => {
  const { packages } = await loadedBy(...line.split(' '));
  expect(packages.filter((name) => !['fastest-levenshtein', 'semver', 'yaml'].includes(name))).toEqual([]);
});

/** Libraries of single commands: the models of objects, the protocols of etcd and S3, X.509, and the schemas of the spec. */
const ofOtherCommands =
  /^(@aws-sdk|@smithy|@grpc|@peculiar)\/|^(etcd3|protobufjs|cdk8s|cdk8s-plus-30|constructs|zod|semver)$/;

it('list loads no library of another command', async () => {
  const { packages, printed } = await loadedBy('list', '-A', '--kubeconfig', join(directory, 'kubeconfig'));
  expect(printed).toBe('no control plane exists\n');
  expect(packages).toContain('@kubernetes/client-node');
  expect(packages.filter((name) => ofOtherCommands.test(name))).toEqual([]);
});
