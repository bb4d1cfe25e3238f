import { isDeepStrictEqual } from 'node:util';
import { groupOf, Namespace, Pod, type Resource } from '../../../constructs/api/resources.ts';
import type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  MergePatchOptions,
} from '../../../reconciler/kube/client-options.ts';
import { describeObject, type KubeObject, type ObjectMeta, type ObjectName } from '../../../reconciler/kube/object.ts';
import type { AdmissionRequest, AdmissionStep } from './admission/admission.ts';
import { admitted } from './admission/steps.ts';
import { Authorizer } from './authorizer.ts';
import { deletionFinalizers } from './deletion-finalizers.ts';
import { actionOf, alreadyExists, notFound, notNew, notServed, refused } from './failures.ts';
import { type Find, firstStatus, hasGeneration, hasStatus, isServed } from './kinds.ts';
import { type Fields, isFields } from './leaves.ts';
import { mergePatched } from './merge-patch.ts';
import { requireIdentity, requireVersion } from './preconditions.ts';
import { afterUpdate, serverSideApply } from './server-side-apply.ts';
import { Store } from './store.ts';

/** An object with arbitrary fields. */
export type AnyFields = KubeObject & Fields;

/** How an API server handles requests, with the admission of `admission/`. It has no schemas, and applies no defaults but that of a whole status. */
export class MemoryApiServer {
  readonly store: Store;
  /** Decides what its clients may do. */
  readonly authorizer: Authorizer;
  /** Every change in order, as `verb Kind namespace/name`; requests that change nothing are left out. */
  readonly writes: string[] = [];
  /** What a mutating policy or webhook makes of each write; by default nothing. */
  policy: AdmissionStep | undefined;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch, for creation and deletion timestamps */
  constructor(now: () => number, store = new Store()) {
    this.#now = now;
    this.store = store;
    this.authorizer = new Authorizer(store);
  }

  /** Another server with the same objects and no recorded writes. */
  copy(now: () => number): MemoryApiServer {
    return new MemoryApiServer(now, this.store.copy());
  }

  /** The object, in the requested version. @throws NotFound */
  read(resource: Resource, name: ObjectName, action: string): AnyFields {
    this.requireServed(resource, action);
    const found = this.find(resource, name);
    if (!found) throw notFound(action, resource, name.name);
    return found;
  }

  find(resource: Resource, name: ObjectName): AnyFields | undefined {
    const found = this.store.find(resource, inScope(resource, name));
    return found && { ...found, apiVersion: resource.apiVersion };
  }

  create(resource: Resource, given: KubeObject, { fieldManager, dryRun = false }: CreateOptions): KubeObject {
    const action = actionOf('create', resource, given.metadata);
    this.#requirePlace(resource, given, action);
    if (given.metadata.resourceVersion) throw notNew(action);
    const next = afterUpdate(
      undefined,
      this.#writable(resource, plain(given), undefined),
      owner(fieldManager),
      this.time,
    );
    const candidate = this.#admitted({ action, resource, live: undefined, next, fieldManager });
    // Admission comes first.
    if (this.find(resource, given.metadata)) throw alreadyExists(action, resource, given.metadata.name);
    return dryRun ? candidate : this.#keep('create', undefined, candidate);
  }

  apply(resource: Resource, given: KubeObject, options: ApplyOptions): KubeObject {
    const { fieldManager, subresource, force = false, dryRun = false } = options;
    const action = actionOf('apply', resource, { ...given.metadata, ...(subresource ? { subresource } : {}) });
    this.#requirePlace(resource, given, action);
    const live = this.find(resource, given.metadata);
    if (!live && subresource) throw notFound(action, resource, given.metadata.name);
    requireIdentity(live, given.metadata, action);
    requireVersion(live, given.metadata, action);
    const applied = this.#writable(resource, plain(given), subresource);
    const writing = { manager: fieldManager, operation: 'Apply', subresource } as const;
    const next = serverSideApply({ live, applied, writing, force, action, time: this.time });
    const candidate = this.#admitted({ action, resource, live, next, subresource, fieldManager });
    return dryRun ? candidate : this.#keep('apply', live, candidate);
  }

  mergePatch(resource: Resource, name: ObjectName, patch: object, options: MergePatchOptions): KubeObject {
    const { fieldManager, subresource, resourceVersion } = options;
    const action = actionOf('patch', resource, { ...name, ...(subresource ? { subresource } : {}) });
    const live = this.read(resource, name, action);
    const patched = mergePatched(live, plain(patch)) as AnyFields;
    requireVersion(
      live,
      { ...patched.metadata, resourceVersion: resourceVersion ?? patched.metadata.resourceVersion },
      action,
    );
    const next = { ...this.#writable(resource, patched, subresource, live) };
    const metadata = { ...next.metadata, ...identityIn(live) };
    const updated = afterUpdate(live, { ...next, metadata }, owner(fieldManager, subresource), this.time);
    return this.#keep(
      'patch',
      live,
      this.#admitted({ action, resource, live, next: updated, subresource, fieldManager }),
    );
  }

  delete(resource: Resource, name: ObjectName, options: DeleteOptions): void {
    const action = actionOf('delete', resource, name);
    const live = this.read(resource, name, action);
    requireVersion(live, options, action);
    this.end('delete', live, options);
  }

  /** Deletes a stored object, or begins its deletion while a finalizer, its kubelet or its content holds it. @param verb as it is recorded */
  end(verb: string, object: KubeObject, { propagationPolicy, gracePeriodSeconds }: DeleteOptions = {}): void {
    const { metadata } = object;
    const finalizers = deletionFinalizers(metadata.finalizers ?? [], propagationPolicy);
    const isGraceful = object.kind === Pod.kind && isScheduled(object) && gracePeriodSeconds !== 0;
    const isNamespace = object.kind === Namespace.kind;
    if (!isGraceful && !isNamespace && finalizers.length === 0) return this.#remove(verb, object);
    if (metadata.deletionTimestamp) {
      if (!isDeepStrictEqual(finalizers, metadata.finalizers ?? [])) this.amend(verb, object, { finalizers });
      return;
    }
    const generation = metadata.generation === undefined ? {} : { generation: metadata.generation + 1 };
    const deletion = { deletionTimestamp: this.time, deletionGracePeriodSeconds: isGraceful ? 30 : 0, ...generation };
    this.#note(verb, object);
    const kept = metadata.finalizers || finalizers.length > 0 ? { finalizers } : {};
    const status = isNamespace ? { status: { phase: 'Terminating' } } : {};
    this.store.put({ ...object, ...status, metadata: { ...metadata, ...kept, ...deletion } });
  }

  /** Changes the metadata of a stored object, and removes it if nothing holds it any more. @param verb as it is recorded */
  amend(verb: string, object: KubeObject, change: Pick<ObjectMeta, 'finalizers' | 'ownerReferences'>): void {
    const next = { ...object, metadata: { ...object.metadata, ...change } };
    if (isDeepStrictEqual(next, object)) return;
    if (isHeldByNothing(next)) return this.#remove(verb, object);
    this.#note(verb, object);
    this.store.put(next);
  }

  /** An object that a controller creates, as it is to be stored. @throws what the API server answers if it refuses the object */
  admitted(resource: Resource, object: KubeObject): KubeObject {
    return this.#admitted({
      action: actionOf('create', resource, object.metadata),
      resource,
      live: undefined,
      next: object,
    });
  }

  /** @throws if the resource is not installed */
  requireServed(resource: Resource, action: string): void {
    if (!isServed(resource, (kind, name) => this.store.find(kind, name))) throw notServed(action);
  }

  /** The present time, in the format of the API. */
  get time(): string {
    return new Date(this.#now()).toISOString().replace(/\.\d+Z$/, 'Z');
  }

  /** The fields that this kind of request may set; all others keep their stored value. */
  #writable(resource: Resource, given: AnyFields, subresource: string | undefined, live?: AnyFields): AnyFields {
    if (subresource !== undefined) {
      const { apiVersion, kind, metadata, status } = given;
      return {
        ...(live ?? { apiVersion, kind }),
        metadata: live?.metadata ?? identity(metadata),
        ...(status === undefined ? {} : { status }),
      };
    }
    const find: Find = (kind, name) => this.store.find(kind, name);
    if (!hasStatus(resource, find)) return given;
    const { status: _, ...rest } = given;
    const status = live?.['status'] ?? firstStatus(resource, find);
    return status === undefined ? rest : { ...rest, status };
  }

  #requirePlace(resource: Resource, { metadata }: KubeObject, action: string): void {
    this.requireServed(resource, action);
    const { namespace } = metadata;
    if (!resource.namespaced || namespace === undefined) return;
    if (!this.store.find(Namespace, { name: namespace })) throw notFound(action, Namespace, namespace);
  }

  /** What a request would store. */
  #admitted({ action, resource, live, next, subresource, fieldManager }: Writing): AnyFields {
    const metadata = { ...next.metadata, ...(live ? identityIn(live) : this.#born(resource)) };
    const request: AdmissionRequest = {
      resource,
      object: { ...next, metadata },
      stored: live,
      subresource,
      fieldManager,
      store: this.store,
      forbidden: (reason, causes) =>
        refused(action, { group: groupOf(resource), resource: resource.plural, name: metadata.name }, reason, causes),
    };
    // The owners of the fields are those of before, as in a real API server.
    return admitted(this.policy ? { ...request, object: this.policy(request) } : request);
  }

  #keep(verb: string, live: AnyFields | undefined, candidate: AnyFields): KubeObject {
    if (live && isDeepStrictEqual(candidate, live)) return live;
    this.#note(verb, candidate);
    if (isHeldByNothing(candidate)) {
      this.store.remove(candidate);
      return candidate;
    }
    const isCounted = live && hasGeneration(candidate) && !isDeepStrictEqual(wantedOf(candidate), wantedOf(live));
    const generation = isCounted ? { generation: (live.metadata.generation ?? 0) + 1 } : {};
    return this.store.put({ ...candidate, metadata: { ...candidate.metadata, ...generation } });
  }

  #born(resource: Resource): Partial<ObjectMeta> {
    const generation = hasGeneration(resource) ? { generation: 1 } : {};
    return { uid: this.store.nextUid(), creationTimestamp: this.time, ...generation };
  }

  #remove(verb: string, object: KubeObject): void {
    this.#note(verb, object);
    this.store.remove(object);
  }

  #note(verb: string, object: KubeObject): void {
    this.writes.push(`${verb} ${describeObject(object)}`);
  }
}

/** Whether it is being deleted, and neither a finalizer nor a kubelet that has to end its containers holds it. */
function isHeldByNothing({ metadata }: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata as Deleted;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0;
}

type Deleted = ObjectMeta & { readonly deletionGracePeriodSeconds?: number };

/** A write before admission. */
interface Writing {
  readonly action: string;
  readonly resource: Resource;
  readonly live: AnyFields | undefined;
  readonly next: KubeObject;
  readonly subresource?: string | undefined;
  readonly fieldManager?: string | undefined;
}

function owner(manager: string, subresource?: string) {
  return { manager, operation: 'Update', subresource } as const;
}

/** As the client would send it, as JSON. */
function plain<T extends object>(given: T): T & AnyFields {
  return JSON.parse(JSON.stringify(given)) as T & AnyFields;
}

function inScope({ namespaced }: Resource, { name, namespace }: ObjectName): ObjectName {
  return namespaced ? { name, namespace } : { name };
}

function identity({ name, namespace }: ObjectMeta): ObjectMeta {
  return namespace === undefined ? { name } : { name, namespace };
}

/** Fields that only the server sets. */
function identityIn({ metadata }: KubeObject): Partial<ObjectMeta> {
  const { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } =
    metadata;
  const all = { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function isScheduled(object: KubeObject): boolean {
  const { spec } = object as AnyFields;
  return isFields(spec) && spec['nodeName'] !== undefined;
}

/** The fields whose changes a generation counts. */
function wantedOf(object: AnyFields): Fields {
  const { metadata: _, status: __, ...wanted } = object;
  return wanted;
}
