import { createHash } from 'node:crypto';
import { resourceOf, type Resource } from '../../constructs/api/resources.ts';
import { renderedFingerprint } from './apply-decision.ts';
import { identityOf, type KubeObject, type ObjectName } from './object.ts';

/**
 * Objects to apply that are a pure function of plain data: from the same data they are the same. An apply set remembers their names
 * and fingerprints, and needs the objects only to send one of them.
 */
export interface Rendering<T extends KubeObject = KubeObject> {
  /** Which of the renderings of an owner it is. */
  readonly part: string;
  /** All that it is rendered from: plain data of which JSON has everything. */
  readonly from: readonly unknown[];
  /** Renders at the first call. */
  readonly objects: () => readonly T[];
}

/** A rendering that renders at most once. */
export function rendering<T extends KubeObject>(
  part: string,
  from: readonly unknown[],
  render: () => readonly T[],
): Rendering<T> {
  let objects: readonly T[] | undefined;
  return { part, from, objects: () => (objects ??= render()) };
}

/** What is rendered, or already known as objects. */
export type Rendered<T extends KubeObject = KubeObject> = Rendering<T> | readonly T[];

/** All objects, with their content. */
export function objectsOf<T extends KubeObject>(rendered: Rendered<T>): readonly T[] {
  return 'objects' in rendered ? rendered.objects() : rendered;
}

/** An object that is rendered, without its content. */
export interface RenderedName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectName;
  /** Empty; undefined for an object without a spec. */
  readonly spec?: object;
}

/** One of the objects that are rendered. */
export interface RenderedEntry {
  readonly name: RenderedName;
  readonly identity: string;
  readonly resource: Resource;
  /** Fingerprint of the object. */
  readonly fingerprint: string;
  readonly object: () => KubeObject;
}

interface Known {
  /** Digest of what it was rendered from. */
  readonly input: string;
  readonly entries: readonly Omit<RenderedEntry, 'object'>[];
}

/** The names and fingerprints of the renderings of many owners. What was rendered from the same data before is not rendered again. */
export class Renderings {
  /** Owner → part → what is known of it. */
  readonly #owners = new Map<string, Map<string, Known>>();

  /** The objects in their order. */
  entries(owner: string, rendered: Rendered): readonly RenderedEntry[] {
    if (!('objects' in rendered)) return rendered.map((object) => ({ ...entryOf(object), object: () => object }));
    const known = this.#known(owner, rendered);
    return known.entries.map((entry, index) => ({ ...entry, object: () => rendered.objects()[index] as KubeObject }));
  }

  /** Forgets an owner that was deleted. */
  forget(owner: string): void {
    this.#owners.delete(owner);
  }

  #known(owner: string, { part, from, objects }: Rendering): Known {
    const parts = this.#owners.get(owner) ?? new Map<string, Known>();
    this.#owners.set(owner, parts);
    const input = from.map(digestOf).join();
    const before = parts.get(part);
    if (before?.input === input) return before;
    const known = { input, entries: objects().map(entryOf) };
    parts.set(part, known);
    return known;
  }
}

function entryOf(object: KubeObject): Omit<RenderedEntry, 'object'> {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace } = metadata;
  return {
    name: {
      apiVersion,
      kind,
      metadata: namespace === undefined ? { name } : { name, namespace },
      ...('spec' in object ? { spec: {} } : {}),
    },
    identity: identityOf(object),
    resource: resourceOf(object),
    fingerprint: renderedFingerprint(object),
  };
}

/** The parts of a chart are rendered from the same cluster, which never changes in place. */
const digests = new WeakMap<object, string>();

function digestOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const known = digests.get(value) ?? createHash('sha256').update(JSON.stringify(value)).digest('base64url');
  digests.set(value, known);
  return known;
}
