import { clusterNameLabel, fieldManager } from '../../../constructs/api/group.ts';
import { managedByLabel, selectorOf } from '../../../constructs/cluster/labels.ts';
import { renderedKinds } from '../../../constructs/control-plane/kinds.ts';
import { messageOf } from '../../kube/error-message.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Session } from '../command.ts';
import { clusterOf } from '../../clusters/management/owning-cluster.ts';
import { findObject } from '../control-plane.ts';
import { type Comparison, effectOf, type ObjectChange } from './effects.ts';

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
      if (!isNotFound(error)) terminal.info(`not known: ${resource.plural}: ${messageOf(error)}`);
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

type FieldSet = Readonly<Record<string, unknown>>;

/** A field, and a field manager that holds it. */
interface HeldField {
  /** As that of a JsonChange. */
  readonly path: string;
  readonly manager: string;
}

/** Which field managers hold which fields of an object, apart from what they write as its status. */
function heldFields({ metadata }: KubeObject): HeldField[] {
  return (metadata.managedFields ?? []).flatMap(({ manager = 'unknown', fieldsV1 = {}, subresource }) =>
    subresource === 'status' ? [] : pathsIn(fieldsV1).map((path) => ({ path, manager })),
  );
}

/**
 * The field managers that hold a field of an object, or one below it.
 * @param path as that of a JsonChange
 */
export function ownersOf(object: KubeObject, path: string): string[] {
  const holding = heldFields(object).filter((held) => overlap(held.path, path));
  return [...new Set(holding.map(({ manager }) => manager))].sort();
}

/**
 * Paths of the innermost fields of a set, written as those of a JsonChange. Entries of a list that have no name end a path: their
 * positions are in no set.
 */
function pathsIn(fields: FieldSet, path = ''): string[] {
  const inner = Object.entries(fields).flatMap(([key, below]) => {
    if (key === '.') return [];
    const step = stepOf(key, path);
    return step === undefined ? [path] : pathsIn(below as FieldSet, step);
  });
  return inner.length > 0 ? [...new Set(inner)] : [path];
}

function stepOf(key: string, path: string): string | undefined {
  const [kind, rest] = [key.slice(0, 2), key.slice(2)];
  if (kind === 'f:') return path === '' ? rest : `${path}.${rest}`;
  if (kind === 'v:') return `${path}[]`;
  const { name } = kind === 'k:' ? (JSON.parse(rest) as { name?: unknown }) : {};
  return typeof name === 'string' ? `${path}[${name}]` : undefined;
}

/** Whether one of two paths contains the other one. */
function overlap(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || (inner.startsWith(outer) && (outer === '' || '.['.includes(inner.charAt(outer.length))));
}
