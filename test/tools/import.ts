/**
 * `npm run import [-- DIRECTORY]`: writes constructs of foreign kinds, and types of the kinds that are read, into `imports/`,
 * or another directory, from the definitions in pinned Go modules and those in `imports/definitions`. Of several served
 * versions of a kind in a Go module, it imports the newest.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageManifest from '../../package.json' with { type: 'json' };
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { keptDefinitions } from '../support/kept-definitions.ts';
import { type ObservedSchema, observedTypes } from '../support/observed-types.ts';
import { pinnedVersion } from './testbed/families.ts';
import { moduleDirectory } from './testbed/go-module.ts';
import {
  certManagerKinds,
  cilium,
  clusterApiCore,
  gatewayApi,
  kubeadmBootstrap,
  type ModuleManifests,
  traefik,
} from './testbed/module-manifests.ts';
import { manifestObjects } from './testbed/rendered-objects.ts';
import { run } from './testbed/run.ts';
import { compareApiVersions } from '../../reconciler/clusters/exposure/infrastructure-endpoint.ts';

interface Definition extends KubeObject {
  readonly spec: {
    /** Nothing else that the modules contain has this field. */
    readonly names?: { readonly kind: string };
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly schema: { readonly openAPIV3Schema: ObservedSchema };
    }[];
  };
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

/** The kinds of others that are read, in the version that the operator requests. */
const observed: readonly [file: string, kinds: readonly string[], definedBy: ModuleManifests][] = [
  ['cluster-api.ts', ['Cluster', 'Machine', 'MachineDeployment', 'MachinePool'], clusterApiCore],
  ['gateway-api.ts', ['TLSRoute'], gatewayApi],
  ['cert-manager.ts', ['CertificateRequest'], certManagerKinds],
];

const kubernetes = { family: 'kubernetes', module: 'k8s.io/kubernetes' } as const;

/** The kinds of Kubernetes itself that are read, as its OpenAPI file names them. */
const observedOfKubernetes: readonly string[] = [
  ...[
    'ConfigMap',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'ResourceQuota',
    'Secret',
    'Service',
  ].map((kind) => `core.v1.${kind}`),
  ...['DaemonSet', 'Deployment', 'StatefulSet'].map((kind) => `apps.v1.${kind}`),
  'admissionregistration.v1.ValidatingWebhookConfiguration',
  'certificates.v1.CertificateSigningRequest',
  'coordination.v1.Lease',
  'discovery.v1.EndpointSlice',
  'events.v1.Event',
  'networking.v1.Ingress',
  'networking.v1.ServiceCIDR',
]
  .map((name) => `io.k8s.api.${name}`)
  .concat('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition');

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

/** Writes the types of objects that are read. */
async function writeTypes(file: string, { family, module }: typeof kubernetes | ModuleManifests, types: string) {
  const origin = `${module} ${await pinnedVersion(family, module)} of test/tools/testbed/go/${family}`;
  await writeFile(join(directory, file), `// ${origin}: written by npm run import\n${types}\n`);
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
const openApi = join(await moduleDirectory(kubernetes.family, kubernetes.module), 'api/openapi-spec/swagger.json');
const { definitions } = JSON.parse(await readFile(openApi, 'utf8')) as { definitions: Record<string, ObservedSchema> };
await writeTypes('kubernetes.ts', kubernetes, observedTypes(observedOfKubernetes, definitions));
for (const [file, kinds, manifests] of observed) {
  const objects = (await manifestObjects(manifests)) as Definition[];
  const read = objects.filter(({ spec: { names } }) => names && kinds.includes(names.kind)).map(newestServed);
  const schemas = read.map(({ spec }) => [spec.names?.kind, spec.versions[0]?.schema.openAPIV3Schema]);
  await writeTypes(file, manifests, observedTypes(kinds, Object.fromEntries(schemas)));
}
