import { isDeepStrictEqual } from 'node:util';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import {
  Event,
  HostedControlPlane,
  Node,
  PersistentVolumeClaim,
  type Resource,
  resourceOf,
} from '../../constructs/api/resources.ts';
import { type ComponentName, componentLabel, selectorLabels } from '../../constructs/cluster/labels.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import type { HeldHost } from '../../constructs/api/status.ts';
import type { Endpoint } from '../../constructs/cluster/facts.ts';
import type { StepNeeds } from '../../reconciler/clusters/dry-run/try-step.ts';
import { identityOf, type KubeObject } from '../../reconciler/kube/object.ts';
import { objectsOf, type Rendered } from '../../reconciler/kube/rendering.ts';
import { isRefusal } from '../../reconciler/kube/errors.ts';
import type { Selection } from '../../reconciler/kube/client-options.ts';
import { readWarnings, type Unexplained, type Warning } from '../../reconciler/clusters/management/warnings.ts';
import type {
  ApplyOptions,
  ObjectFields,
  DeletionWriter,
  Reader,
  Writer,
} from '../../reconciler/clusters/management/view.ts';
import { isSelected } from './memory-cluster/selectors.ts';
import { mergePatched } from './memory-cluster/merge-patch.ts';
import { namespace } from './scope.ts';

/** An object with arbitrary JSON fields. */
export type StoredObject = KubeObject & Readonly<Record<string, unknown>>;

/** The process was killed before a write. What it wrote before stays. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/**
 * One namespace of an in-memory management cluster, behind the interfaces that phases use. Watches see labelled objects
 * only, as in production. Nothing changes without a call: `settle` of management-controllers.ts acts as Kubernetes' controllers.
 */
export class MemoryObjects implements Reader, Writer, DeletionWriter {
  /** Every change in order, as `verb Kind name`; an apply that changes nothing is left out. */
  readonly writes: string[] = [];
  /** Annotations that the operator has set on the HostedControlPlane. */
  annotations: Readonly<Record<string, string>> | undefined;
  /** The result of `workers`. */
  workersLeft = 0;
  published: Endpoint | undefined;
  /** The host names that the control plane holds. */
  hosts: readonly HeldHost[] = [];
  /** The endpoint of the Cluster's infrastructure object; `none` if there is no such object. */
  infrastructure: Endpoint | 'empty' | 'none' = 'none';
  readonly #objects = new Map<string, StoredObject>();
  readonly #applied = new Map<string, RenderedObject>();
  #writesLeft = Infinity;
  #refusal: ((object: KubeObject) => Error | undefined) | undefined;
  #uids = 0;

  /** A copy with the same objects and no recorded writes. */
  copy(): MemoryObjects {
    const copy = new MemoryObjects();
    copy.published = this.published;
    copy.annotations = this.annotations;
    copy.hosts = this.hosts;
    copy.infrastructure = this.infrastructure;
    copy.#uids = this.#uids;
    for (const [identity, object] of this.#objects) copy.#objects.set(identity, object);
    for (const [identity, object] of this.#applied) copy.#applied.set(identity, object);
    return copy;
  }

  /** Kills the process before the write after this many more. */
  dieAfter(writes: number): void {
    this.#writesLeft = writes;
  }

  /** Starts the process again. */
  restart(): void {
    this.#writesLeft = Infinity;
  }

  /** Answers writes of some objects with an error, as a server would. */
  refuse(refusal: (object: KubeObject) => Error | undefined): void {
    this.#refusal = refusal;
  }

  /** All objects, labelled or not. */
  get objects(): StoredObject[] {
    return [...this.#objects.values()];
  }

  /** `Kind name` of all objects, sorted. */
  get names(): string[] {
    return this.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
  }

  /** Stores an object as another client. */
  put(object: StoredObject): StoredObject {
    const identity = identify(object);
    const uid = object.metadata.uid ?? this.#objects.get(identity)?.metadata.uid ?? `uid-${++this.#uids}`;
    const stored = { ...object, metadata: { ...object.metadata, namespace, uid } };
    this.#objects.set(identity, stored);
    return stored;
  }

  /** Nothing refuses an object here. */
  refusal(): undefined {
    return undefined;
  }

  /** Removes an object as another client. */
  remove(object: KubeObject): void {
    this.#objects.delete(identify(object));
    this.#applied.delete(identify(object));
  }

  get<T extends KubeObject>(resource: Resource, name: string): T | undefined {
    const object = this.#find(resource, name);
    return isWatched(object) ? (object as unknown as T) : undefined;
  }

  list<T extends KubeObject>({ kind }: Resource, labels: Readonly<Record<string, string>>): T[] {
    const carries = ({ metadata }: KubeObject) =>
      Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
    return this.objects.filter((object) => object.kind === kind && carries(object)) as unknown as T[];
  }

  async apply<T extends KubeObject>(
    rendered: Rendered<RenderedObject>,
    { onRefused, only = () => true }: ApplyOptions = {},
  ): Promise<T[]> {
    return objectsOf(rendered)
      .filter(only)
      .flatMap((object) => {
        try {
          return this.#applyOne(object);
        } catch (error) {
          if (!onRefused || !(error instanceof Error) || !isRefusal(error)) throw error;
          onRefused(object, error);
          return this.#objects.get(identify(object)) ?? [];
        }
      }) as unknown as T[];
  }

  async createOnce<T extends KubeObject>(object: RenderedObject): Promise<T> {
    const existing = this.#objects.get(identify(object));
    if (existing) return existing as unknown as T;
    this.#write('create', object);
    return this.put({ ...object, metadata: { ...object.metadata, generation: 1 } }) as unknown as T;
  }

  /** The refusal of {@link refuse} in the place of that of an API server, also for objects that exist. */
  async dryRun({ creates }: StepNeeds): Promise<string | undefined> {
    return creates.flatMap((object) => this.#refusal?.(object)?.message ?? [])[0];
  }

  /** Nothing is tried before it is applied. */
  async preview(): Promise<undefined> {
    return undefined;
  }

  async adopt(resource: Resource, name: string): Promise<void> {
    const object = this.#find(resource, name);
    if (!object) throw new Error(`adopt ${resource.kind} ${name}: it does not exist`);
    this.#write('adopt', object);
    const labels = { ...object.metadata.labels, ...selectorLabels('c1', 'certificates') };
    this.put({ ...object, metadata: { ...object.metadata, labels } });
  }

  async read<T extends KubeObject>(resource: Resource, name: string): Promise<T | undefined> {
    return this.#find(resource, name) as T | undefined;
  }

  async readAll<T extends KubeObject>(resource: Resource, labels: Readonly<Record<string, string>>): Promise<T[]> {
    return this.list<T>(resource, labels);
  }

  async warnings(_: ComponentName, objects: readonly Unexplained[], now: Date): Promise<readonly Warning[]> {
    const events = () => this.objects.filter(({ kind }) => kind === Event.kind);
    async function* pages(__: Resource, selection: Selection) {
      yield events().filter((event) => isSelected(event, selection));
    }
    return readWarnings({ pages }, { namespace, now }, objects);
  }

  async countNodes(labels: Readonly<Record<string, readonly string[]>>): Promise<number> {
    const isOf = ({ metadata }: KubeObject) =>
      Object.entries(labels).every(([label, values]) => values.includes(metadata.labels?.[label] ?? ''));
    return this.objects.filter((object) => object.kind === Node.kind && isOf(object)).length;
  }

  async annotate(
    { kind }: Resource,
    _: KubeObject,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<void> {
    // Only of the HostedControlPlane, which is not stored here.
    this.#record(`annotate ${kind}`);
    const all = Object.entries({ ...this.annotations, ...annotations });
    this.annotations = Object.fromEntries(all.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
  }

  async setFields(
    resource: Resource,
    { metadata }: KubeObject,
    { annotations, spec, ownerReferences }: ObjectFields,
    purpose: string,
  ): Promise<void> {
    // The object of a scope is not stored here.
    if (resource === HostedControlPlane) {
      if (isDeepStrictEqual(this.annotations, annotations)) return;
      this.#record(`set ${purpose} of ${resource.kind}`);
      this.annotations = annotations;
      return;
    }
    const present = this.#find(resource, metadata.name);
    if (!present || present.metadata.uid !== metadata.uid) {
      throw new Error(`${resource.kind} ${metadata.name} is gone`);
    }
    this.#write(`set ${purpose} of`, present);
    this.put({
      ...present,
      metadata: {
        ...present.metadata,
        annotations: { ...present.metadata.annotations, ...annotations },
        ...(ownerReferences
          ? { ownerReferences: [...(present.metadata.ownerReferences ?? []), ...ownerReferences] }
          : {}),
      },
      ...(spec ? { spec: mergePatched(present['spec'], spec) } : {}),
    });
  }

  async recordHosts(hosts: readonly HeldHost[]): Promise<void> {
    this.#record(`hold ${hosts.map(({ name }) => name).join(' ')}`);
    this.hosts = hosts;
  }

  async publishEndpoint(endpoint: Endpoint): Promise<void> {
    this.#record(`publish ${endpoint.host}:${endpoint.port}`);
    this.published = endpoint;
  }

  async publishToInfrastructure(endpoint: Endpoint): Promise<Endpoint | undefined> {
    if (this.infrastructure === 'none') return undefined;
    if (this.infrastructure !== 'empty') return this.infrastructure;
    this.#record(`publish ${endpoint.host}:${endpoint.port} to the infrastructure`);
    this.infrastructure = endpoint;
    return endpoint;
  }

  async setFinalizers(
    resource: Resource,
    object: KubeObject,
    finalizers: readonly string[],
    added: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const present = this.#find(resource, object.metadata.name);
    if (present?.metadata.uid !== object.metadata.uid) return;
    this.#write('set finalizers of', object);
    const { deletionTimestamp } = present?.metadata ?? {};
    if (deletionTimestamp !== undefined && finalizers.length === 0) this.remove(object);
    else if (present) {
      const annotations = { ...present.metadata.annotations, ...added };
      this.put({ ...present, metadata: { ...present.metadata, finalizers, annotations } });
    }
  }

  async delete(resource: Resource, object: KubeObject): Promise<void> {
    const present = this.#find(resource, object.metadata.name);
    if (present?.metadata.uid !== object.metadata.uid) return;
    this.#write('delete', object);
    // The protection finalizer holds a volume claim until no pod uses it.
    if (resource === PersistentVolumeClaim && present) {
      this.put({ ...present, metadata: { ...present.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' } });
    } else {
      this.remove(object);
    }
  }

  async keep(resource: Resource, object: KubeObject, uid: string | undefined): Promise<void> {
    const present = this.#find(resource, object.metadata.name);
    if (!present) throw new Error(`${resource.kind} ${object.metadata.name} is gone`);
    this.#write('keep', object);
    const ownerReferences = present.metadata.ownerReferences?.filter((owner) => owner.uid !== uid) ?? [];
    this.put({ ...present, metadata: { ...present.metadata, ownerReferences } });
  }

  async workers(): Promise<number> {
    return this.workersLeft;
  }

  #applyOne(object: RenderedObject): StoredObject {
    const identity = identify(object);
    const existing = this.#objects.get(identity);
    if (existing && isDeepStrictEqual(this.#applied.get(identity), object)) return existing;
    this.#write('apply', object);
    this.#applied.set(identity, object);
    const generation = (existing?.metadata.generation ?? 0) + 1;
    return this.put({ ...existing, ...object, metadata: { ...existing?.metadata, ...object.metadata, generation } });
  }

  #write(verb: string, object: KubeObject): void {
    const refusal = this.#refusal?.(object);
    if (refusal) throw refusal;
    this.#record(`${verb} ${object.kind} ${object.metadata.name}`);
  }

  #record(write: string): void {
    if (this.#writesLeft-- <= 0) throw new Killed(`before ${write}`);
    this.writes.push(write);
  }

  #find({ apiVersion, kind }: Resource, name: string): StoredObject | undefined {
    return this.#objects.get(identityOf({ apiVersion, kind, metadata: { name, namespace } }));
  }
}

/** Whether an informer would report it. */
function isWatched(object: StoredObject | undefined): boolean {
  const { [clusterNameLabel]: cluster, [componentLabel]: component } = object?.metadata.labels ?? {};
  return cluster !== undefined && component !== undefined;
}

function identify(object: KubeObject): string {
  return identityOf({ ...resourceOf(object), metadata: { name: object.metadata.name, namespace } });
}
