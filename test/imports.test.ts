import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import packageManifest from '../package.json' with { type: 'json' };
import { observedTypes } from './support/observed-types.ts';
import { pinnedVersion } from './tools/testbed/families.ts';

const directory = join(import.meta.dirname, '../imports');
const modules = (await readdir(directory)).filter((file) => file.endsWith('.ts'));
/** They contain types only, which no generator of others writes. */
const observed = ['cert-manager.ts', 'cluster-api.ts', 'gateway-api.ts', 'kubernetes.ts'];

it.each(modules)('%s is generated from the version that is pinned, else npm run import', async (file) => {
  const text = await readFile(join(directory, file), 'utf8');
  const [, kept, module = '', version, family = '', generator] =
    /^\/\/ (?:(imports\/definitions)|(\S+) (\S+) of test\/tools\/testbed\/go\/(\S+?))(?: by cdk8s-cli (\S+))?: /.exec(
      text,
    ) ?? [];
  expect(version).toBe(kept === undefined ? await pinnedVersion(family, module) : undefined);
  expect(generator).toBe(observed.includes(file) ? undefined : packageManifest.devDependencies['cdk8s-cli']);
});

it.each(observed)('%s has no code that runs', async (file) => {
  const text = await readFile(join(directory, file), 'utf8');
  const statements = text.split('\n').filter((line) => /^\w/.test(line));
  expect(statements.length).toBeGreaterThan(1);
  for (const line of statements) expect(line).toMatch(/^(import type \{|export interface \w+ )/);
});

it('a type of what is read has every field optional and readonly, and says what it is', () => {
  const text = { type: 'string' };
  const definitions = {
    'core.v1.Pod': {
      properties: {
        kind: text,
        metadata: { $ref: '#/definitions/meta.v1.ObjectMeta' },
        spec: { $ref: '#/definitions/core.v1.PodSpec' },
        template: { $ref: '#/definitions/meta.v1.ObjectMeta' },
      },
    },
    'core.v1.PodSpec': {
      properties: {
        ports: { type: 'array', items: { $ref: '#/definitions/core.v1.Port' } },
        since: { $ref: '#/definitions/meta.v1.Time' },
        'x-labels': { type: 'object', additionalProperties: text },
        other: { $ref: '#/definitions/other.v1.Port' },
        any: {},
      },
    },
    'core.v1.Port': { properties: { port: { $ref: '#/definitions/util.intstr.IntOrString' } } },
    'other.v1.Port': { properties: { open: { type: 'boolean' } } },
    'meta.v1.Time': { type: 'string', format: 'date-time' },
    'meta.v1.ObjectMeta': { properties: { name: text } },
    'util.intstr.IntOrString': { type: 'string', format: 'int-or-string' },
  };
  expect(observedTypes(['core.v1.Pod'], definitions))
    .toBe(`import type { KubeObject, ObjectMeta } from '../reconciler/kube/object.ts';

export interface OtherPort {
  readonly open?: boolean | undefined;
}

export interface PodObject extends KubeObject {
  readonly spec?: PodSpec | undefined;
  readonly template?: Partial<ObjectMeta> | undefined;
}

export interface PodSpec {
  readonly ports?: readonly Port[] | undefined;
  readonly since?: string | undefined;
  readonly 'x-labels'?: Readonly<Record<string, string>> | undefined;
  readonly other?: OtherPort | undefined;
  readonly any?: unknown | undefined;
}

export interface Port {
  readonly port?: number | string | undefined;
}`);
});
