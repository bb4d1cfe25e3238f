import { clusterNameLabel, fieldManager } from '../../constructs/api/group.ts';
import { ConfigMap, HostedControlPlane } from '../../constructs/api/resources.ts';
import { managedByLabel, selectorOf, selectorString } from '../../constructs/cluster/labels.ts';
import { newestRevision, releaseOf } from '../../constructs/cluster/release-revisions.ts';
import { minorOf } from '../../constructs/cluster/versions.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { renderedKinds } from '../../constructs/control-plane/kinds.ts';
import { documentsIn } from '../../constructs/rendered-file.ts';
import type { Sample } from '../../constructs/sample.ts';
import { renderWorkload } from '../../constructs/workload/chart.ts';
import { type CommandAccess, findingControlPlane } from './access.ts';
import { withoutValues } from './collect/without-secrets.ts';
import { columns, table } from './columns.ts';
import { Answer, type Command, type Given, type Session, UsageError, textOption } from './command.ts';
import { clusterOf, findObject } from './control-plane.ts';
import {
  type Comparison,
  type ObjectChange,
  type SpecChange,
  effectOf,
  gravest,
  objectChanges,
  specChanges,
} from './diff/effects.ts';
import { heldFields, ownersOf } from './diff/field-owners.ts';
import { readingSample, sampleOf } from './diff/live-sample.ts';
import { outputOf, outputOption, printed } from './output.ts';
import { readFile } from './read-file.ts';
import { type View, plainView } from './view.ts';
import { messageOf } from '../kube/error-message.ts';
import { isNotFound } from '../kube/errors.ts';
import type { KubeObject } from '../kube/object.ts';
import { lastUsable, revisionsAmong } from '../desired-state/revision/revisions.ts';

/** A comparison, and what a person reads below it. */
interface Compared extends Comparison {
  readonly same: string;
  readonly different: string;
}

/**
 * Shows what a changed HostedControlPlane or another release revision would do to a running one, before a user applies it; or what
 * others have changed of a running one.
 */
export const diff: Command = {
  name: 'diff',
  usage: 'FILE [--field-manager NAME] | CLUSTER [--release-revision N] [-o json|yaml]',
  summary:
    'Shows what a file or release revision would change, or what others have set: exit code 1 if anything, 2 if it fails.',
  options: {
    'field-manager': {
      type: 'string',
      value: 'NAME',
      meaning: 'the one that applies the file, kubectl by default; what it no longer sets is removed',
    },
    'release-revision': {
      type: 'string',
      value: 'N',
      meaning: `show what the adoption of this release revision changes; ${newestRevision} is the newest`,
    },
    output: outputOption(),
  },
  access: [
    findingControlPlane,
    { resource: HostedControlPlane, verbs: ['get', 'patch'], why: 'computing what FILE changes, without storing it' },
    ...readingSample,
    ...renderedKinds.map((resource): CommandAccess => ({
      resource,
      verbs: ['list'],
      why: 'who has set the fields of its objects',
    })),
  ],
  failureCode: 2,
  prepare(given) {
    const compare = comparisonOf(given);
    const output = outputOf(given);
    return async ({ terminal, ...session }) => {
      const compared = await compare({ terminal, ...session });
      const { spec, objects, same, different } = compared;
      const isSame = spec.length + objects.length === 0;
      const people = () => (isSame ? [same] : describeChanges({ spec, objects }, terminal));
      for (const line of printed(output, shapeOf(compared), people)) terminal.print(line);
      if (isSame) return;
      throw new Answer(`${different}: ${gravest([...spec, ...objects]) ?? 'no restart'}`);
    };
  },
};

/** What `-o json|yaml` prints: of objects the paths of their fields alone, and of the spec no values of environment variables. */
export function shapeOf({ cluster, spec, objects }: Comparison): object {
  return {
    cluster,
    spec: spec.map(({ path, before, after, effect, what, setBy }) => ({
      path,
      ...(/(^|\.)env($|\[)/.test(path) ? {} : { before: withoutValues(before), after: withoutValues(after) }),
      effect,
      what,
      setBy,
    })),
    objects: objects.map(({ fields, ...object }) => ({ ...object, fields: fields.map(({ path }) => path) })),
  };
}

/** @throws UsageError for an option that belongs to the other form */
function comparisonOf(given: Given): (session: Session) => Promise<Compared> {
  const target = targetOf(given);
  const fieldManager = textOption(given, 'field-manager');
  const revision = revisionOf(given);
  if (isFile(target)) {
    if (revision !== undefined) throw new UsageError(`--release-revision needs the name of a Cluster, not ${target}`);
    return async (session) => would(target, await compareFile(session, target, fieldManager ?? 'kubectl'));
  }
  if (fieldManager !== undefined)
    throw new UsageError(`--field-manager needs a file, such as ./${target} or ${target}.yaml`);
  if (revision !== undefined)
    return async (session) => would(`release revision ${revision}`, await compareRelease(session, target, revision));
  return async (session) => {
    const compared = await compareOwners(session, target);
    const { cluster } = compared;
    return {
      ...compared,
      same: `only the operator has set fields of the objects of ${cluster}`,
      different: `others have set fields of the objects of ${cluster}, and the operator takes back what it sets itself`,
    };
  };
}

function would(by: string, compared: Comparison): Compared {
  const { cluster } = compared;
  return { ...compared, same: `${by} changes nothing of ${cluster}`, different: `${by} would change ${cluster}` };
}

function targetOf({ positionals }: Given): string {
  const [target, ...more] = positionals;
  if (target === undefined || more.length > 0)
    throw new UsageError(`set one file with a HostedControlPlane, or the name of a Cluster, not ${positionals.length}`);
  return target;
}

/** A name of a Cluster has no slash. */
function isFile(target: string): boolean {
  return target === '-' || target.includes('/') || /\.(ya?ml|json)$/.test(target);
}

/** @throws UsageError unless it is a release revision that this release can render */
function revisionOf(given: Given): number | undefined {
  const text = textOption(given, 'release-revision');
  if (text === undefined) return undefined;
  const revision = Number(text);
  if (Number.isInteger(revision) && revision >= 1 && revision <= newestRevision) return revision;
  throw new UsageError(`--release-revision must be a whole number from 1 to ${newestRevision}, not "${text}"`);
}

/** What a person reads: the fields that change, who has set them, and what becomes of the objects. */
export function describeChanges(
  { spec, objects }: Pick<Comparison, 'spec' | 'objects'>,
  view: View = plainView,
): string[] {
  const parts = [fieldLines(spec), objects.length > 0 ? objectLines(objects, view) : ['no object changes']];
  return spec.length + objects.length === 0 ? [] : parts.filter(({ length }) => length > 0).flatMap(separated);
}

function separated(lines: readonly string[], index: number): string[] {
  return index === 0 ? [...lines] : ['', ...lines];
}

function fieldLines(spec: readonly SpecChange[]): string[] {
  return columns(
    spec.map(({ path, before, after, what, setBy = [] }) => [
      `spec.${path}`,
      `${shown(before)} -> ${shown(after)}`,
      setBy.length > 0 ? `set by ${setBy.join(', ')}` : '',
      what ?? '',
    ]),
  );
}

function objectLines(objects: readonly ObjectChange[], view: View): string[] {
  const hasOwners = objects.some(({ setBy = [] }) => setBy.length > 0);
  const rows = objects.map(({ place, object, effect, fields, setBy = [] }) => [
    `${place === 'hosted' ? 'hosted: ' : ''}${object}`,
    effect,
    ...(hasOwners ? [setBy.join(', ')] : []),
    fields.map(({ path }) => path || 'whole object').join(', '),
  ]);
  return table([['OBJECT', 'EFFECT', ...(hasOwners ? ['SET BY'] : []), 'FIELDS'], ...rows], view);
}

/** Short, because a whole template fits in no line. */
function shown(value: unknown): string {
  if (value === undefined) return 'unset';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

/**
 * A control plane with a file that is not applied yet. The API server computes the new object without storing it.
 * @throws with its message when it refuses the file
 */
async function compareFile(session: Session, path: string, fieldManager: string): Promise<Comparison> {
  const { client, namespace } = session;
  const wanted = controlPlaneIn(path);
  const metadata = { ...wanted.metadata, namespace: wanted.metadata.namespace ?? namespace };
  const name = { namespace: metadata.namespace, name: metadata.name };
  const live = await client.find(HostedControlPlane, name);
  if (!live)
    throw new Error(
      `HostedControlPlane ${name.name} does not exist in namespace ${name.namespace}: hcp render shows what it becomes`,
    );
  const changed = await client.apply({ ...wanted, metadata }, { fieldManager, force: true, dryRun: true });
  const before = await sampleOf(session, live);
  // the file may lack the owner, by which the Cluster is found
  const after = await sampleOf(session, { ...changed, metadata: live.metadata });
  const spec = specChanges(before.cluster.spec, after.cluster.spec).map((change) => ({
    ...change,
    setBy: ownersOf(live, `spec.${change.path}`),
  }));
  return { cluster: before.cluster.name, spec, objects: renderedChanges(before, after) };
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
 * Compares who has set the fields of a control plane's objects in the management cluster, which the API server records. It compares no
 * values, because only the operator knows what it would write. It names the kinds that the user may not read, and goes on.
 */
export async function compareOwners(session: Session, name: string): Promise<Comparison> {
  const { client, terminal } = session;
  const live = await findObject(session, name);
  const cluster = clusterOf(live) ?? name;
  const labelSelector = selectorOf({ [managedByLabel]: fieldManager, [clusterNameLabel]: cluster });
  const objects: ObjectChange[] = [];
  for (const resource of renderedKinds) {
    try {
      const { items } = await client.list(resource, { namespace: live.metadata.namespace, labelSelector });
      objects.push(...items.flatMap(changedByOthers));
    } catch (error) {
      // a kind that is not installed
      if (!isNotFound(error)) terminal.tell(`not known: ${resource.plural}: ${messageOf(error)}`);
    }
  }
  return { cluster, spec: [], objects };
}

/** The fields of an object that others hold, apart from its metadata and its status, which several controllers write. */
export function changedByOthers(object: KubeObject): ObjectChange[] {
  const held = heldFields(object).filter(
    ({ path, manager }) => !isOperators(manager) && !/^(metadata|status|$)/.test(path),
  );
  if (held.length === 0) return [];
  const fields = [...new Set(held.map(({ path }) => path))].map((path) => ({ path }));
  const setBy = [...new Set(held.map(({ manager }) => manager))].sort();
  const { kind, metadata } = object;
  return [{ place: 'management', object: `${kind} ${metadata.name}`, effect: effectOf(kind, fields), fields, setBy }];
}

/** Some steps of the operator have a name of their own. */
function isOperators(manager: string): boolean {
  return manager === fieldManager || manager.startsWith(`${fieldManager}-`);
}

/**
 * A control plane by the release that the operator has recorded for it, with the same by another release revision: what its adoption
 * would change.
 * @throws when this program does not know the recorded release revision
 */
export async function compareRelease(session: Session, name: string, revision: number): Promise<Comparison> {
  const object: KubeObject = await findObject(session, name);
  const sample = await sampleOf(session, object);
  const { cluster } = sample;
  const { items } = await session.client.list(ConfigMap, {
    namespace: cluster.namespace,
    labelSelector: selectorString(cluster.name, 'revision'),
  });
  const recorded = lastUsable(revisionsAmong(items, object, cluster.name))?.release;
  if (!recorded) throw new Error(`the operator has recorded no release for ${cluster.name} yet: does it run?`);
  if (recorded.revision > newestRevision)
    throw new Error(
      `${cluster.name} has release revision ${recorded.revision}, and this hcp knows revisions up to ${newestRevision}: use the hcp of the operator's release`,
    );
  const by = (release: typeof recorded): Sample => ({ ...sample, cluster: { ...cluster, release } });
  const asked = revision === recorded.revision ? recorded : releaseOf(minorOf(cluster.spec.version), revision);
  return { cluster: cluster.name, spec: [], objects: renderedChanges(by(recorded), by(asked)) };
}

/** The differences between what two control planes with the same examples are rendered to, in both clusters. */
function renderedChanges(before: Sample, after: Sample): ObjectChange[] {
  const [one, other] = [before, after].map(({ cluster, facts }) => ({
    management: renderControlPlane(cluster, facts),
    hosted: renderWorkload(cluster, facts),
  }));
  return (['management', 'hosted'] as const).flatMap((place) =>
    objectChanges(one?.[place] ?? [], other?.[place] ?? [], place),
  );
}
