import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { node } from '../../tools/bench/child-program.ts';
import { bundleOperator, type LoadedAtStart, repository } from '../../tools/testbed/operator-bundle.ts';
import { nodeFlags } from '../../tools/testbed/operator-image.ts';

let directory: string;
let loaded: LoadedAtStart;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bundle-'));
  loaded = await bundleOperator(directory);
});
afterAll(() => rm(directory, { recursive: true }));

test('the bundle has ASCII characters only, because a single other one doubles its memory', async () => {
  for (const name of await readdir(directory)) {
    if (!name.endsWith('.js')) continue;
    const text = await readFile(join(directory, name), 'latin1');
    expect([name, ...(text.match(/.{0,30}[^\p{ASCII}].{0,30}/gu) ?? [])]).toEqual([name]);
  }
});

/**
 * Libraries whose code is in memory from the start, although a part of each may be left out of the bundle. A new line costs all
 * operators memory: `import()` what few of them use.
 */
const loadedAtStart = [
  '@grpc/grpc-js',
  '@grpc/proto-loader',
  '@js-sdsl/ordered-map',
  '@kubernetes/client-node',
  '@opentelemetry/api',
  '@peculiar/asn1-asym-key',
  '@peculiar/asn1-cms',
  '@peculiar/asn1-csr',
  '@peculiar/asn1-ecc',
  '@peculiar/asn1-pfx',
  '@peculiar/asn1-pkcs8',
  '@peculiar/asn1-pkcs9',
  '@peculiar/asn1-rsa',
  '@peculiar/asn1-schema',
  '@peculiar/asn1-x509',
  '@peculiar/asn1-x509-attr',
  '@peculiar/asn1-x509-post-quantum',
  '@peculiar/utils',
  '@peculiar/x509',
  '@pinojs/redact',
  '@protobufjs/aspromise',
  '@protobufjs/base64',
  '@protobufjs/codegen',
  '@protobufjs/eventemitter',
  '@protobufjs/fetch',
  '@protobufjs/float',
  '@protobufjs/path',
  '@protobufjs/pool',
  '@protobufjs/utf8',
  'agent-base',
  'asn1js',
  'atomic-sleep',
  'bignumber.js',
  'bintrees',
  'cdk8s',
  'cdk8s-plus-30',
  'cockatiel',
  'constructs',
  'croner',
  'debug',
  'etcd3',
  'fast-json-patch',
  'fastest-levenshtein',
  'has-flag',
  'hpagent',
  'ip-address',
  'js-yaml',
  'jsonpath-plus',
  'lodash.camelcase',
  'long',
  'ms',
  'oauth4webapi',
  'on-exit-leak-free',
  'openid-client',
  'pino',
  'pino-std-serializers',
  'prom-client',
  'protobufjs',
  'pvtsutils',
  'pvutils',
  'quick-format-unescaped',
  'reflect-metadata',
  'rfc4648',
  'safe-stable-stringify',
  'semver',
  'smart-buffer',
  'socks',
  'socks-proxy-agent',
  'sonic-boom',
  'supports-color',
  'tdigest',
  'thread-stream',
  'tslib',
  'tsyringe',
  'undici',
  'yaml',
  'zod',
];

test('the operator loads only this at its start: no client of S3, no models of the API, no second HTTP client of Node', async () => {
  expect(loaded.packages).toEqual(loadedAtStart);
  // Our own code is a fifth more, and grows with what it does; 3.85 MB on 2026-11-28.
  expect(loaded.libraryBytes).toBeLessThan(3_900_000);
  expect(await builtinsLoadedBy(join(directory, 'main.js'))).not.toContain('NativeModule internal/deps/undici/undici');
});

/** Node's own modules that the operator has loaded when it reads its configuration, and refuses it. */
async function builtinsLoadedBy(main: string): Promise<string[]> {
  const report = `process.on('exit', () => console.log(JSON.stringify(process.moduleLoadList)))`;
  const preload = `data:text/javascript,${encodeURIComponent(report)}`;
  const env = { ...process.env, LOG_LEVEL: 'loud' };
  const refusal: unknown = await promisify(execFile)(node, ['--import', preload, main], { env }).catch(
    (error) => error,
  );
  expect(refusal).toMatchObject({ code: 1, stderr: expect.stringContaining('LOG_LEVEL') as unknown });
  return JSON.parse((refusal as { readonly stdout: string }).stdout) as string[];
}

test('an image of any origin starts Node with the flags that keep its memory small', async () => {
  const entrypoint = JSON.stringify(['/usr/local/bin/node', ...nodeFlags, '/app/main.js']).replaceAll(',', ', ');
  expect(nodeFlags).toContain('--optimize-for-size');
  expect(await readFile(join(repository, 'Containerfile'), 'utf8')).toContain(`ENTRYPOINT ${entrypoint}`);
});
