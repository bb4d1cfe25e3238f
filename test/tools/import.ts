/**
 * `npm run import [-- DIRECTORY]`: writes constructs of foreign kinds into `imports/`, or another directory, from the
 * definitions in pinned Go modules and those in `imports/definitions`. Of several served versions of a kind in a Go module,
 * it imports the newest.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageManifest from '../../package.json' with { type: 'json' };
import { compareApiVersions } from '../../reconciler/kube/api-version.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { keptDefinitions } from '../support/kept-definitions.ts';
import { pinnedVersion } from './testbed/families.ts';
import {
  cilium,
  clusterApiCore,
  gatewayApi,
  kubeadmBootstrap,
  type ModuleManifests,
  traefik,
} from './testbed/module-manifests.ts';
import { manifestObjects } from './testbed/rendered-objects.ts';
import { run } from './testbed/run.ts';

interface Definition extends KubeObject {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly served: boolean }[] };
}

/** The kinds of each API group, and the Go module that defines them. */
const imports: readonly [group: string, plurals: readonly string[], definedBy: ModuleManifests][] = [
  ['gateway.networking.k8s.io', ['tlsroutes'], gatewayApi],
  ['traefik.io', ['ingressroutetcps'], traefik],
  ['cilium.io', ['ciliumnetworkpolicies'], cilium],
  ['cluster.x-k8s.io', ['clusters', 'clusterclasses', 'machinedeployments'], clusterApiCore],
  ['addons.cluster.x-k8s.io', ['clusterresourcesets'], clusterApiCore],
  ['bootstrap.cluster.x-k8s.io', ['kubeadmconfigtemplates'], kubeadmBootstrap],
];

/** The definition with nothing but its newest version that is served. */
function newestServed(definition: Definition): Definition {
  const served = definition.spec.versions.filter((version) => version.served);
  const [newest] = served.sort((a, b) => compareApiVersions(a.name, b.name));
  if (!newest) throw new Error(`${definition.metadata.name} is served in no version`);
  return { ...definition, spec: { ...definition.spec, versions: [newest] } };
}

/** Turns enums into unions of their values, which objects contain as in YAML and fields with equal values share. */
function withoutEnums(code: string): string {
  return code.replaceAll(/^export enum (\w+) \{([^}]*)\}/gm, (_, name: string, members: string) => {
    const values = [...members.matchAll(/ = (.*),$/gm)].map(([, value]) => value);
    return `export type ${name} = ${values.join(' | ')};`;
  });
}

/** Leaves only types that Node can strip: no import of a type as a value, and no field that a constructor's parameter declares. */
function withStrippableTypes(code: string): string {
  const parameterProperty = /^( *)private constructor\(public readonly (\w+): ([^)]*)\) \{\n *\}/gm;
  return code
    .replace('ApiObjectMetadata, GroupVersionKind', 'type ApiObjectMetadata, type GroupVersionKind')
    .replaceAll(parameterProperty, (_, indent: string, name: string, type: string) =>
      [
        `${indent}public readonly ${name}: ${type};`,
        `${indent}private constructor(${name}: ${type}) {`,
        `${indent}  this.${name} = ${name};`,
        `${indent}}`,
      ].join('\n'),
    );
}

/** Writes the module of one API group. */
async function write(group: string, items: readonly KubeObject[], origin: string): Promise<void> {
  await writeFile(join(temporary, 'definitions.yaml'), JSON.stringify({ kind: 'List', items }));
  const source = ['--language', 'typescript', '--no-save', join(temporary, 'definitions.yaml')];
  await run(['cdk8s', 'import', ...source, '--output', temporary, '--check-upgrade=false']);

  const generated = await readFile(join(temporary, `${group}.ts`), 'utf8');
  const header = `// ${origin} by cdk8s-cli ${packageManifest.devDependencies['cdk8s-cli']}: written by npm run import`;
  await writeFile(
    join(directory, `${group}.ts`),
    `${header}\n${withStrippableTypes(withoutEnums(generated)).trimEnd()}\n`,
  );
}

const [directory = join(import.meta.dirname, '../../imports')] = process.argv.slice(2);
await mkdir(directory, { recursive: true });
const temporary = await mkdtemp(join(tmpdir(), 'import-'));
for (const [group, plurals, manifests] of imports) {
  const names = plurals.map((plural) => `${plural}.${group}`);
  const objects = (await manifestObjects(manifests)) as Definition[];
  const items = objects.filter(({ metadata }) => names.includes(metadata.name)).map(newestServed);
  if (items.length < names.length) throw new Error(`${manifests.module} does not define all of ${names.join()}`);
  const { family, module } = manifests;
  await write(group, items, `${module} ${await pinnedVersion(family, module)} of test/tools/testbed/go/${family}`);
}
for (const [group, definitions] of Map.groupBy(await keptDefinitions(), ({ spec }) => spec.group)) {
  await write(group, definitions, 'imports/definitions');
}
await rm(temporary, { recursive: true });
