import { fieldShape, type Shape } from './shapes.ts';

/** A JSON object of unknown shape. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The path to a part of an object as `metadata.managedFields` spells it, one step per line: `f:spec`, `k:{"name":"etcd"}`,
 * `v:"finalizer"`.
 */
export type Path = string;

const separator = '\n';

export function below(path: Path, step: string): Path {
  return path === '' ? step : `${path}${separator}${step}`;
}

export function stepsOf(path: Path): readonly string[] {
  return path.split(separator);
}

/** Whether the second path is the first one or below it. */
export function isWithin(outer: Path, inner: Path): boolean {
  return inner.startsWith(outer + separator);
}

/** The step to an item of a list, identified by its keys or, in a set, by its value. */
export function itemStep(shape: Shape, item: unknown): string {
  if (shape.type !== 'map') return `v:${JSON.stringify(item)}`;
  const given = isFields(item) ? item : {};
  const keys = shape.keys.toSorted().map((key) => [key, given[key] ?? shape.defaults[key]]);
  return `k:${JSON.stringify(Object.fromEntries(keys))}`;
}

/** The shape of an item of a list. */
export function itemShape(shape: Shape): Shape | undefined {
  return shape.type === 'map' ? shape.item : undefined;
}

/** Whether the items of a list have owners of their own. */
export function isMergedList(shape: Shape | undefined): shape is Shape & { type: 'set' | 'map' } {
  return shape?.type === 'set' || shape?.type === 'map';
}

/**
 * Every part of a value that can have an owner, each with its content as text. An item of a merged list is owned in addition
 * to its fields, so that it can be removed.
 */
export function leavesOf(value: unknown, shape: Shape | undefined): Map<Path, string> {
  const leaves = new Map<Path, string>();
  collect(value, shape, '', leaves);
  return leaves;
}

function collect(value: unknown, shape: Shape | undefined, path: Path, leaves: Map<Path, string>): void {
  if (Array.isArray(value) && isMergedList(shape)) {
    for (const item of value) {
      const at = below(path, itemStep(shape, item));
      leaves.set(at, '');
      if (shape.type === 'map') collect(item, shape.item, at, leaves);
    }
    return;
  }
  if (isFields(value) && shape?.type !== 'atomic' && Object.keys(value).length > 0) {
    for (const [field, content] of Object.entries(value)) {
      collect(content, fieldShape(shape, field), below(path, `f:${field}`), leaves);
    }
    return;
  }
  leaves.set(path, JSON.stringify(value));
}

/** The parts of the second value that are new or differ from the first one, and the parts of the first one that are gone. */
export function compare(
  before: ReadonlyMap<Path, string>,
  after: ReadonlyMap<Path, string>,
): { readonly changed: ReadonlySet<Path>; readonly removed: ReadonlySet<Path> } {
  const changed = [...after].filter(([path, content]) => before.get(path) !== content).map(([path]) => path);
  return { changed: new Set(changed), removed: new Set([...before.keys()].filter((path) => !after.has(path))) };
}
