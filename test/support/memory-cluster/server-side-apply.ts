import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { conflictOver } from './failures.ts';
import {
  below,
  compare,
  type Fields,
  isFields,
  isMergedList,
  isWithin,
  itemShape,
  itemStep,
  leavesOf,
  type Path,
} from './leaves.ts';
import { entriesOf, isOwner, ownable, type Owner, ownersOf, without, type Writing } from './managed-fields.ts';
import { fieldShape, type Shape, shapeOf } from './shapes.ts';

export interface ApplyRequest {
  /** The stored object; undefined for a new one. */
  readonly live: KubeObject | undefined;
  /** The applied fields, without those that this kind of request may not set. */
  readonly applied: KubeObject;
  readonly writing: Writing;
  readonly force: boolean;
  /** For messages: `apply Secret a/b`. */
  readonly action: string;
  readonly time: string;
}

/**
 * The result of an apply: its fields are set; fields that the manager applied before and no longer applies are removed unless
 * another manager owns them too; everything else stays.
 * @throws a conflict if it changes fields of other managers, unless it is forced to take them over
 */
export function serverSideApply({ live, applied, writing, force, action, time }: ApplyRequest): KubeObject {
  const shape = shapeOf(applied);
  const before = ownersOf(live);
  const mine = before.find((owner) => isOwner(owner, writing));
  const named = new Set(ownable(leavesOf(applied, shape)).keys());

  const merged = merge(contentOf(live), contentOf(applied), shape) as Fields;
  const { changed, removed } = compare(ownable(leavesOf(contentOf(live), shape)), ownable(leavesOf(merged, shape)));
  const others = before.filter((owner) => owner !== mine);
  const conflicts = others.flatMap((owner) =>
    [...owner.owned].filter((path) => changed.has(path)).map((path) => ({ owner, path })),
  );
  if (conflicts.length > 0 && !force) throw conflictOver(action, conflicts);

  const kept = without(others, changed, removed);
  const dropped = [...(mine?.owned ?? [])].filter(
    (path) =>
      !named.has(path) && !kept.some(({ owned }) => [...owned].some((one) => one === path || isWithin(path, one))),
  );
  const pruned = withoutPaths(merged, shape, new Set(dropped), '') as Fields;
  const owner: Owner = {
    ...writing,
    apiVersion: applied.apiVersion,
    time: mine && isSame(mine.owned, named) && changed.size === 0 && dropped.length === 0 ? mine.time : time,
    owned: named,
  };
  return withOwners(pruned, mine ? inPlaceOf(before, kept, mine, owner) : [...kept, owner]);
}

/** Ownership after an object is created or patched: changed fields belong to the writer alone. */
export function afterUpdate(
  live: KubeObject | undefined,
  next: KubeObject,
  writing: Writing,
  time: string,
): KubeObject {
  const shape = shapeOf(next);
  const content = contentOf(next);
  const { changed, removed } = compare(ownable(leavesOf(contentOf(live), shape)), ownable(leavesOf(content, shape)));
  const before = ownersOf(live);
  const mine = before.find((owner) => isOwner(owner, writing));
  const kept = without(before, changed, removed);
  if (changed.size === 0) return withOwners(content, kept);
  const still = kept.find((owner) => isOwner(owner, writing))?.owned ?? [];
  const owner: Owner = { ...writing, apiVersion: next.apiVersion, time, owned: new Set([...still, ...changed]) };
  const others = kept.filter((one) => !isOwner(one, writing));
  return withOwners(content, mine ? inPlaceOf(before, others, mine, owner) : [...others, owner]);
}

function inPlaceOf(before: readonly Owner[], kept: readonly Owner[], mine: Owner, owner: Owner): Owner[] {
  return before.flatMap((one) => (one === mine ? owner : (kept.find((other) => isOwner(other, one)) ?? [])));
}

function withOwners(content: Fields, owners: readonly Owner[]): KubeObject {
  const managedFields = entriesOf(owners);
  const object = content as unknown as KubeObject;
  return { ...object, metadata: { ...object.metadata, ...(managedFields.length > 0 ? { managedFields } : {}) } };
}

function contentOf(object: KubeObject | undefined): Fields {
  if (!object) return {};
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function isSame(one: ReadonlySet<Path>, other: ReadonlySet<Path>): boolean {
  return one.size === other.size && [...one].every((path) => other.has(path));
}

function merge(live: unknown, applied: unknown, shape: Shape | undefined): unknown {
  if (Array.isArray(live) && Array.isArray(applied) && isMergedList(shape)) return mergeLists(live, applied, shape);
  if (!isFields(live) || !isFields(applied) || shape?.type === 'atomic') return applied;
  const merged: Record<string, unknown> = { ...live };
  for (const [field, value] of Object.entries(applied)) {
    merged[field] = field in live ? merge(live[field], value, fieldShape(shape, field)) : value;
  }
  return merged;
}

/** In the order of the applied list; an item that only the live list has keeps its place before the next common item. */
function mergeLists(live: readonly unknown[], applied: readonly unknown[], shape: Shape): unknown[] {
  const stepOf = (item: unknown) => itemStep(shape, item);
  const appliedSteps = new Set(applied.map(stepOf));
  const liveItems = new Map(live.map((item) => [stepOf(item), item]));
  const waiting = [...live];
  const merged: unknown[] = [];
  for (const item of applied) {
    while (waiting.length > 0 && !appliedSteps.has(stepOf(waiting[0]))) merged.push(waiting.shift());
    if (waiting.length > 0 && stepOf(waiting[0]) === stepOf(item)) waiting.shift();
    merged.push(liveItems.has(stepOf(item)) ? merge(liveItems.get(stepOf(item)), item, itemShape(shape)) : item);
  }
  return [...merged, ...waiting.filter((item) => !appliedSteps.has(stepOf(item)))];
}

function withoutPaths(value: unknown, shape: Shape | undefined, dropped: ReadonlySet<Path>, path: Path): unknown {
  if (dropped.size === 0) return value;
  if (Array.isArray(value) && isMergedList(shape)) {
    return value.flatMap((item: unknown) => {
      const at = below(path, itemStep(shape, item));
      return dropped.has(at) ? [] : [withoutPaths(item, itemShape(shape), dropped, at)];
    });
  }
  if (!isFields(value) || shape?.type === 'atomic') return value;
  const kept = Object.entries(value).flatMap(([field, content]): [string, unknown][] => {
    const at = below(path, `f:${field}`);
    if (dropped.has(at)) return [];
    const left = withoutPaths(content, fieldShape(shape, field), dropped, at);
    return isEmptied(content, left) ? [] : [[field, left]];
  });
  return Object.fromEntries(kept);
}

/** The server omits a map or list that has become empty. */
function isEmptied(before: unknown, after: unknown): boolean {
  const size = (value: unknown) =>
    Array.isArray(value) ? value.length : isFields(value) ? Object.keys(value).length : undefined;
  return size(after) === 0 && size(before) !== 0;
}
