import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { Place } from '../../../constructs/rendered-file.ts';

/** What a change of a spec does, the gravest first. */
const effects = [
  'data at risk',
  'stops everything',
  'rolling restart',
  'pods added or removed',
  'hot reload',
  'no restart',
] as const;
type Effect = (typeof effects)[number];

/** A field that changes; an empty path is the whole object. */
type ChangedField = Pick<JsonChange, 'path'>;

/** An object that the operator would create, change or delete. */
export interface ObjectChange {
  readonly place: Place;
  /** Such as `Deployment c1-api-server`. */
  readonly object: string;
  readonly effect: Effect;
  readonly fields: readonly ChangedField[];
  /** Field managers that hold the live fields, where others than the operator matter. */
  readonly setBy?: readonly string[];
}

/** What would change of a control plane. */
export interface Comparison {
  /** Name of the Cluster. */
  readonly cluster: string;
  readonly spec: readonly SpecChange[];
  readonly objects: readonly ObjectChange[];
}

/** The differences between what a spec renders to and what another one does. */
export function objectChanges(
  before: readonly RenderedObject[],
  after: readonly RenderedObject[],
  place: Place,
): ObjectChange[] {
  const [one, other] = [byName(before, place), byName(after, place)];
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].flatMap((object) => {
    const fields = jsonChanges(one.get(object), other.get(object));
    const kind = object.split(' ')[0] ?? '';
    return fields.length === 0 ? [] : [{ place, object, effect: effectOf(kind, fields), fields }];
  });
}

const workloads = ['DaemonSet', 'Deployment', 'StatefulSet'];

/** What a change of these fields of an object does. */
export function effectOf(kind: string, fields: readonly ChangedField[]): Effect {
  const has = (start: string) => fields.some(({ path }) => path === start || path.startsWith(`${start}.`));
  // An empty path is an object that comes or goes.
  if (workloads.includes(kind)) {
    if (has('spec.template')) return 'rolling restart';
    return has('spec.replicas') || has('') ? 'pods added or removed' : 'no restart';
  }
  return kind === 'ConfigMap' && !has('') ? 'hot reload' : 'no restart';
}

/** Fields of a spec that do more than their objects show, by the beginning of their path. */
const decisions: readonly (readonly [path: string, Effect, what: string])[] = [
  ['etcd.restore', 'data at risk', 'the data of a backup replaces the data of etcd; everything stops meanwhile'],
  ['etcd.recovery', 'data at risk', 'the data of etcd that are not in this revision or backup are given up'],
  ['etcd.volumeRetention', 'data at risk', 'decides whether a deletion keeps the volumes of etcd'],
  ['hibernate', 'stops everything', 'all components stop, or start again; the data stay'],
  ['version', 'rolling restart', 'an upgrade: see hcp preflight CLUSTER --to VERSION'],
  ['etcd.replicas', 'pods added or removed', 'members of etcd join or leave one at a time'],
  ['etcd.volumeSize', 'no restart', 'volumes of etcd grow, if their StorageClass allows it; they never shrink'],
  ['encryptionAtRest', 'rolling restart', 'every Secret of the hosted cluster is written again'],
  ['certificates.rotation', 'rolling restart', 'a CA or a key is replaced in steps; nothing loses its trust'],
  ['certificates', 'hot reload', 'certificates are issued again at their next renewal'],
  ['apiServer.certSANs', 'hot reload', 'the certificate of the API server is issued again'],
  ['oidcProviders', 'hot reload', 'API servers read the token issuers again'],
  ['etcd.backup', 'no restart', 'decides when backups are taken, and where they are'],
];

/** A field of the spec that changes. */
export interface SpecChange extends JsonChange {
  /** What it does besides changing objects; undefined if nothing. */
  readonly effect: Effect | undefined;
  readonly what: string | undefined;
  /** Field managers that hold the live field. */
  readonly setBy?: readonly string[];
}

export function specChanges(before: object, after: object): SpecChange[] {
  return jsonChanges(before, after).map((change) => {
    const [, effect, what] = decisions.find(([start]) => isBelow(change.path, start)) ?? [];
    return { ...change, effect, what };
  });
}

function isBelow(path: string, start: string): boolean {
  return path === start || path.startsWith(`${start}.`) || path.startsWith(`${start}[`);
}

/** The gravest effect of all; undefined without a change. */
export function gravest(changes: readonly { readonly effect: Effect | undefined }[]): Effect | undefined {
  return effects.find((effect) => changes.some((change) => change.effect === effect));
}

/** Objects in the management cluster are all in the namespace of the control plane. */
function byName(objects: readonly RenderedObject[], place: Place): Map<string, RenderedObject> {
  return new Map(
    objects.map((object) => {
      const { namespace, name } = object.metadata;
      const shown = place === 'hosted' && namespace !== undefined ? `${namespace}/${name}` : name;
      return [`${object.kind} ${shown}`, object];
    }),
  );
}

/** A difference at one place; `before` or `after` is undefined where there is nothing. */
interface JsonChange {
  /** Such as `spec.containers[etcd].image`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * All differences between two values of JSON. Entries of a list count by their name if they have one, as Kubernetes merges them;
 * texts and numbers in a list count as a set.
 */
export function jsonChanges(before: unknown, after: unknown, path = ''): JsonChange[] {
  if (isFields(before) && isFields(after)) return changesOfFields(before, after, path);
  if (Array.isArray(before) && Array.isArray(after)) return changesOfLists(before, after, path);
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

function changesOfFields(before: Fields, after: Fields, path: string): JsonChange[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => jsonChanges(before[key], after[key], path === '' ? key : `${path}.${key}`));
}

function changesOfLists(before: readonly unknown[], after: readonly unknown[], path: string): JsonChange[] {
  const [one, other] = [keyed(before), keyed(after)];
  if (one && other) {
    const keys = new Set([...one.keys(), ...other.keys()]);
    return [...keys].flatMap((key) => jsonChanges(one.get(key), other.get(key), `${path}[${key}]`));
  }
  if ([...before, ...after].every((entry) => !isFields(entry) && !Array.isArray(entry))) {
    const gone = before.filter((entry) => !after.includes(entry));
    const come = after.filter((entry) => !before.includes(entry));
    const length = Math.max(gone.length, come.length);
    return Array.from({ length }, (_, index) => ({ path: `${path}[]`, before: gone[index], after: come[index] }));
  }
  const length = Math.max(before.length, after.length);
  return Array.from({ length }, (_, index) => jsonChanges(before[index], after[index], `${path}[${index}]`)).flat();
}

/** Entries by their names; undefined if one has none, or two have the same. */
function keyed(list: readonly unknown[]): Map<string, unknown> | undefined {
  const entries = new Map<string, unknown>();
  for (const entry of list) {
    const name = isFields(entry) ? entry['name'] : undefined;
    if (typeof name !== 'string' || entries.has(name)) return undefined;
    entries.set(name, entry);
  }
  return entries;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
