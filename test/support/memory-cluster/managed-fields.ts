import type { KubeObject, ManagedFieldsEntry } from '../../../reconciler/kube/object.ts';
import { below, type Fields, isFields, type Path, stepsOf } from './leaves.ts';

/** The fields that one manager owns by one operation. */
export interface Owner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource: string | undefined;
  readonly apiVersion: string;
  readonly time: string | undefined;
  readonly owned: ReadonlySet<Path>;
}

/** The manager and the operation of a write. */
export type Writing = Pick<Owner, 'manager' | 'operation' | 'subresource'>;

/** Fields that the server sets itself, or that identify the object, have no owner. */
const unowned: ReadonlySet<Path> = new Set([
  'f:apiVersion',
  'f:kind',
  ...[
    'name',
    'namespace',
    'uid',
    'resourceVersion',
    'generation',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'managedFields',
  ].map((field) => below('f:metadata', `f:${field}`)),
]);

/** The leaves of an object that can have an owner. */
export function ownable(leaves: ReadonlyMap<Path, string>): Map<Path, string> {
  return new Map(
    [...leaves].filter(([path]) => !unowned.has(stepsOf(path).slice(0, 2).join('\n')) && !unowned.has(path)),
  );
}

export function ownersOf(object: KubeObject | undefined): Owner[] {
  return (object?.metadata.managedFields ?? []).map(
    ({ manager = '', operation = 'Update', subresource, apiVersion = '', time, fieldsV1 = {} }) => ({
      manager,
      operation,
      subresource,
      apiVersion,
      time,
      owned: new Set(pathsIn(fieldsV1, '')),
    }),
  );
}

export function isOwner(owner: Writing, { manager, operation, subresource }: Writing): boolean {
  return owner.manager === manager && owner.operation === operation && owner.subresource === subresource;
}

/** The entries as the server writes them; managers that own nothing have none. */
export function entriesOf(owners: readonly Owner[]): ManagedFieldsEntry[] {
  return owners
    .filter(({ owned }) => owned.size > 0)
    .map(({ owned, subresource, ...rest }) => ({
      ...rest,
      fieldsType: 'FieldsV1',
      fieldsV1: fieldsOf(owned),
      ...(subresource === undefined ? {} : { subresource }),
    }));
}

/** Owners after a write: the writer is the only owner of fields it changed, and removed fields have none. */
export function without(owners: readonly Owner[], ...taken: readonly ReadonlySet<Path>[]): Owner[] {
  return owners.map((owner) => ({
    ...owner,
    owned: new Set([...owner.owned].filter((path) => !taken.some((paths) => paths.has(path)))),
  }));
}

/** An item of a list is owned (`.`) in addition to its fields, a leaf by its presence. */
function pathsIn(fields: Fields, path: Path): Path[] {
  const steps = Object.entries(fields).filter(([step]) => step !== '.');
  const inner = steps.flatMap(([step, content]) => pathsIn(isFields(content) ? content : {}, below(path, step)));
  const isLeaf = steps.length === 0;
  return path !== '' && (isLeaf || '.' in fields) ? [path, ...inner] : inner;
}

interface Tree {
  [step: string]: Tree;
}

function fieldsOf(owned: ReadonlySet<Path>): Fields {
  const root: Tree = {};
  for (const path of [...owned].sort()) {
    let at = root;
    for (const step of stepsOf(path)) at = at[step] ??= {};
    at['.'] = {};
  }
  return withoutLoneDots(root);
}

/** A node without children needs no mark of its own. */
function withoutLoneDots(tree: Tree): Tree {
  const steps = Object.keys(tree).filter((step) => step !== '.');
  if (steps.length === 0) return {};
  return Object.fromEntries(
    Object.keys(tree)
      .sort()
      .map((step) => [step, step === '.' ? {} : withoutLoneDots(tree[step] ?? {})]),
  );
}
