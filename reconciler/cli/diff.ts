import {
  Cluster,
  Gateway,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  type Resource,
} from '../../constructs/api/resources.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { documentsIn } from '../../constructs/rendered-file.ts';
import { readSample } from '../../constructs/sample.ts';
import { renderWorkload } from '../../constructs/workload/chart.ts';
import type { KubeObject } from '../kube/object.ts';
import { columns } from './columns.ts';
import { type Command, type Given, type Session, textOption, UsageError } from './command.ts';
import { clusterOf } from './control-plane.ts';
import { readFile } from './read-file.ts';
import { gravest, objectChanges, type ObjectChange, type SpecChange, specChanges } from './diff/effects.ts';

/** Shows what a changed HostedControlPlane would do to a running one, before a user applies it. */
export const diff: Command = {
  name: 'diff',
  usage: 'FILE [--field-manager NAME]',
  summary: 'Shows what a changed file would change and restart; exit code 1 when it changes anything.',
  options: {
    'field-manager': {
      type: 'string',
      value: 'NAME',
      meaning: 'the one that applies the file, kubectl by default; what it no longer sets is removed',
    },
  },
  prepare(given) {
    const path = pathOf(given);
    const fieldManager = textOption(given, 'field-manager') ?? 'kubectl';
    return async (session) => {
      const wanted = controlPlaneIn(path);
      const { live, spec, changes } = await compare(session, wanted, fieldManager);
      const cluster = clusterOf(live) ?? live.metadata.name;
      for (const line of describeChanges(spec, changes)) session.terminal.print(line);
      if (spec.length === 0) return session.terminal.print(`${path} changes nothing of ${cluster}`);
      const effect = gravest([...spec, ...changes]);
      throw new Error(`${path} would change ${cluster}: ${effect ?? 'no restart'}`);
    };
  },
};

function pathOf({ positionals }: Given): string {
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0)
    throw new UsageError(`set one file with a HostedControlPlane, or - for standard input, not ${positionals.length}`);
  return path;
}

/** @throws when there is not exactly one */
function controlPlaneIn(path: string): KubeObject {
  const found = (documentsIn(readFile(path)) as KubeObject[]).filter(({ kind }) => kind === HostedControlPlane.kind);
  const [object] = found;
  if (!object || found.length > 1)
    throw new Error(`${path} has ${found.length} HostedControlPlanes: set a file with one`);
  return object;
}

/**
 * Both specs, rendered with the same examples in the place of addresses and certificates, so that only the specs make a difference.
 * The API server computes the new one without storing it.
 * @throws with its message when it refuses the file
 */
async function compare(session: Session, wanted: KubeObject, fieldManager: string) {
  const { client, namespace } = session;
  const metadata = { ...wanted.metadata, namespace: wanted.metadata.namespace ?? namespace };
  const name = { namespace: metadata.namespace, name: metadata.name };
  const live = await client.find(HostedControlPlane, name);
  if (!live)
    throw new Error(
      `HostedControlPlane ${name.name} does not exist in namespace ${name.namespace}: hcp render shows what it becomes`,
    );
  const changed = await client.apply({ ...wanted, metadata }, { fieldManager, force: true, dryRun: true });
  const around = await surroundings(session, live);
  const [before, after] = [live, changed].map((object) => readSample([...around, withoutEndpoint(object)]));
  if (!before || !after) throw new Error('nothing was rendered');
  const changes = [
    ...objectChanges(
      renderControlPlane(before.cluster, before.facts),
      renderControlPlane(after.cluster, after.facts),
      'management',
    ),
    ...objectChanges(
      renderWorkload(before.cluster, before.facts),
      renderWorkload(after.cluster, after.facts),
      'hosted',
    ),
  ];
  return { live, changes, spec: specChanges(before.cluster.spec, after.cluster.spec) };
}

/** The operator writes the endpoint, and it is none of the examples. */
function withoutEndpoint(object: KubeObject & { readonly spec?: object }): KubeObject {
  return { ...object, spec: { ...object.spec, controlPlaneEndpoint: undefined } } as KubeObject;
}

/** The objects that a HostedControlPlane is rendered with. */
async function surroundings({ client }: Session, live: KubeObject): Promise<KubeObject[]> {
  const { namespace = '' } = live.metadata;
  const cluster = clusterOf(live);
  if (cluster === undefined)
    throw new Error(`no Cluster owns HostedControlPlane ${live.metadata.name} yet: hcp render shows what it becomes`);
  const owner = await client.get(Cluster, { namespace, name: cluster });
  // A kind that is not installed, or that this user may not read, is only missing.
  const listed = (resource: Resource, where: { namespace?: string }) =>
    client.list(resource, where).then(
      ({ items }) => items,
      () => [],
    );
  const [templates, gateways] = await Promise.all([
    listed(HostedControlPlaneComponentTemplate, { namespace }),
    listed(Gateway, {}),
  ]);
  return [owner, ...templates, ...gateways];
}

/** What a person reads: the fields that change, and what becomes of the objects. */
export function describeChanges(spec: readonly SpecChange[], changes: readonly ObjectChange[]): string[] {
  if (spec.length === 0) return [];
  const fields = spec.map(({ path, before, after, what }) => [
    `spec.${path}`,
    `${shown(before)} -> ${shown(after)}`,
    what ?? '',
  ]);
  if (changes.length === 0) return [...columns(fields), '', 'no object changes'];
  const rows = changes.map(({ place, object, effect, fields: changed }) => [
    `${place === 'hosted' ? 'hosted: ' : ''}${object}`,
    effect,
    changed.map(({ path }) => path || 'whole object').join(', '),
  ]);
  return [...columns(fields), '', ...columns([['OBJECT', 'EFFECT', 'FIELDS'], ...rows])];
}

/** Short, because a whole template fits in no line. */
function shown(value: unknown): string {
  if (value === undefined) return 'unset';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
