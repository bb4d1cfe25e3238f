import {
  groupOf,
  Namespace,
  type Resource,
  resourceOf,
  SelfSubjectAccessReview,
  ServiceAccount,
  SubjectAccessReview,
} from '../../../constructs/api/resources.ts';
import { type KubernetesApi, withoutEmptyMaps } from '../../../reconciler/kube/client.ts';
import type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  MergePatchOptions,
  ListOptions,
  ObjectList,
  PageOptions,
  Selection,
  WatchOptions,
} from '../../../reconciler/kube/client-options.ts';
import { isNotFound } from '../../../reconciler/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../../reconciler/kube/object.ts';
import { objectPath } from '../../../reconciler/kube/resource.ts';
import type { WatchEvent } from '../../../reconciler/kube/watch.ts';
import type { MemoryApiServer } from './api-server.ts';
import type { AuthorizedRequest, ResourceRequest } from './authorizer.ts';
import { signerRight } from './certificate-admission.ts';
import { actionOf, forbidden, notServed, refused } from './failures.ts';
import { isSelected, selectedName } from './selectors.ts';
import { reviewed, reviewedFor } from './subject-access.ts';
import type { User } from './users.ts';
import { watchStore } from './watch.ts';

export interface MemoryClientOptions {
  /** Called before every request; an error it throws is the answer. By default nothing is called. */
  readonly before?: (action: string) => Promise<void> | void;
  /**
   * Called when the server has handled the request, before the caller or a watch gets the result. By default nothing is called.
   */
  readonly after?: ((action: string) => void) | undefined;
  /** Called with every request that the server permits. By default nothing is called. */
  readonly onPermitted?: (request: AuthorizedRequest) => void;
  /** The events of a watch as they arrive. By default each arrives at once, and no connection breaks. */
  readonly receive?: Receive;
  /** What other paths answer. By default only `/readyz` and empty `/metrics` exist. */
  readonly paths?: Readonly<Record<string, () => string>>;
}

type Receive = (
  events: AsyncGenerator<WatchEvent, void>,
  signal: AbortSignal | undefined,
) => AsyncGenerator<WatchEvent, void>;

/**
 * An implementation of KubeClient's API for an in-memory API server, which permits what the roles and bindings there grant
 * to the user.
 */
export class MemoryClient implements KubernetesApi {
  readonly #server: MemoryApiServer;
  readonly #user: User;
  readonly #before: (action: string) => Promise<void> | void;
  readonly #after: (action: string) => void;
  readonly #onPermitted: (request: AuthorizedRequest) => void;
  readonly #receive: Receive;
  readonly #paths: Readonly<Record<string, () => string>>;

  constructor(
    server: MemoryApiServer,
    user: User,
    {
      before = () => {},
      after = () => {},
      onPermitted = () => {},
      receive = (events) => events,
      paths = {},
    }: MemoryClientOptions = {},
  ) {
    this.#server = server;
    this.#user = user;
    this.#onPermitted = onPermitted;
    this.#receive = receive;
    this.#before = before;
    this.#after = after;
    this.#paths = { '/readyz': () => 'ok', '/metrics': () => '', ...paths };
  }

  async get<T extends KubeObject = KubeObject>(resource: Resource, name: ObjectName): Promise<T> {
    objectPath(resource, name);
    const action = actionOf('get', resource, name);
    await this.#before(action);
    this.#authorize(action, requestFor('get', resource, name));
    return this.#server.read(resource, name, action) as KubeObject as T;
  }

  find<T extends KubeObject = KubeObject>(resource: Resource, name: ObjectName): Promise<T | undefined> {
    return this.get<T>(resource, name).catch(nothingIfNotFound);
  }

  async list<T extends KubeObject = KubeObject>(
    resource: Resource,
    options: ListOptions<T> = {},
  ): Promise<ObjectList<T>> {
    const { namespace } = options;
    const action = actionOf('list', resource, namespace === undefined ? {} : { namespace });
    await this.#before(action);
    this.#authorize(action, requestForAll('list', resource, options));
    this.#server.requireServed(resource, action);
    const { apiVersion, kind } = resource;
    const selected = this.#server.store.list(resource).filter((object) => isSelected(object, options));
    const items = selected.map(
      (object) => ({ ...seen(object, resource, options), apiVersion, kind }) as KubeObject as T,
    );
    const keep = options.keeper?.() ?? ((object: T) => object);
    return { items: items.map(keep), resourceVersion: String(this.#server.store.version) };
  }

  async currentVersion(resource: Resource, options: Selection = {}): Promise<string> {
    const { namespace } = options;
    const action = actionOf('check', resource, namespace === undefined ? {} : { namespace });
    await this.#before(action);
    this.#authorize(action, requestForAll('list', resource, options));
    return String(this.#server.store.version);
  }

  async *pages(resource: Resource, { limit = 500, ...options }: PageOptions = {}): AsyncGenerator<KubeObject[], void> {
    const { items } = await this.list(resource, options);
    for (let first = 0; first === 0 || first < items.length; first += limit) yield items.slice(first, first + limit);
  }

  async apply<T extends KubeObject>(object: T, options: ApplyOptions): Promise<T & KubeObject> {
    const { resource = resourceOf(object), subresource } = options;
    objectPath(resource, object.metadata);
    const action = actionOf('apply', resource, object.metadata);
    return this.#write(action, () => {
      this.#authorize(action, requestFor('patch', resource, object.metadata, subresource));
      this.#authorizeSigner(action, resource, object, subresource);
      this.#authorizeNew(action, resource, object, options);
      return this.#server.apply(resource, withoutEmptyMaps(object), options) as T & KubeObject;
    });
  }

  async create<T extends KubeObject>(object: T, options: CreateOptions): Promise<T & KubeObject> {
    const resource = resourceOf(object);
    const isReview = resource === SubjectAccessReview || resource === SelfSubjectAccessReview;
    if (!isReview) objectPath(resource, object.metadata);
    const action = actionOf('create', resource, object.metadata);
    return this.#write(action, () => {
      this.#authorize(action, { ...requestFor('create', resource, object.metadata), name: undefined });
      if (resource === SubjectAccessReview) return reviewed(object, this.#server.authorizer);
      if (resource === SelfSubjectAccessReview) return reviewedFor(this.#user, object, this.#server.authorizer);
      return this.#server.create(resource, object, options) as T & KubeObject;
    });
  }

  async serviceAccountToken(
    name: ObjectName,
    audience = 'https://kubernetes.default.svc.cluster.local',
  ): Promise<string> {
    const action = actionOf('create', ServiceAccount, { ...name, subresource: 'token' });
    await this.#before(action);
    this.#authorize(action, requestFor('create', ServiceAccount, name, 'token'));
    this.#server.read(ServiceAccount, name, action);
    const claims = { aud: [audience], sub: `system:serviceaccount:${name.namespace}:${name.name}` };
    return ['{}', JSON.stringify(claims), ''].map((part) => Buffer.from(part).toString('base64url')).join('.');
  }

  async mergePatch<T extends KubeObject = KubeObject>(
    resource: Resource,
    name: ObjectName,
    patch: object,
    options: MergePatchOptions,
  ): Promise<T> {
    objectPath(resource, name);
    const action = actionOf('patch', resource, name);
    const { subresource } = options;
    const patched = await this.#write(action, () => {
      this.#authorize(action, requestFor('patch', resource, name, subresource));
      this.#authorizeSigner(action, resource, { ...patch, metadata: name }, subresource);
      return this.#server.mergePatch(resource, name, patch, options);
    });
    return seen(patched, resource, options) as T;
  }

  async delete(resource: Resource, name: ObjectName, options: DeleteOptions = {}): Promise<void> {
    objectPath(resource, name);
    const action = actionOf('delete', resource, name);
    const remove = (): void => {
      this.#authorize(action, requestFor('delete', resource, name));
      this.#server.delete(resource, name, options);
    };
    await this.#write(action, remove).catch(nothingIfNotFound);
  }

  async *watch<T extends KubeObject = KubeObject>(
    resource: Resource,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void> {
    const { namespace } = options;
    const action = actionOf('watch', resource, namespace === undefined ? {} : { namespace });
    await this.#before(action);
    this.#authorize(action, requestForAll('watch', resource, options));
    this.#server.requireServed(resource, action);
    const events = watchStore(this.#server.store, resource, options);
    for await (const event of this.#receive(events, options.signal)) {
      if (event.type === 'BOOKMARK') yield event;
      else yield { type: event.type, object: seen(event.object, resource, options) as T };
    }
  }

  async raw(path: string): Promise<string> {
    await this.#before(`get ${path}`);
    this.#authorize(`get ${path}`, { verb: 'get', path });
    const answer = this.#paths[path];
    if (!answer) throw notServed(`get ${path}`);
    return answer();
  }

  async close(): Promise<void> {}

  #authorize(action: string, request: AuthorizedRequest): void {
    const { isAllowed, problem } = this.#server.authorizer.decide(this.#user, request);
    if (!isAllowed) throw forbidden(action, this.#user, request, problem);
    this.#onPermitted(request);
  }

  /** An apply of an object that does not exist creates it, which is a right of its own. Everything else is checked before. */
  #authorizeNew(action: string, resource: Resource, object: KubeObject, options: ApplyOptions): void {
    if (options.subresource !== undefined || this.#server.find(resource, object.metadata)) return;
    this.#server.apply(resource, object, { ...options, dryRun: true });
    this.#authorize(action, requestFor('create', resource, object.metadata));
  }

  /** As the admission plugins for CertificateSigningRequests do. */
  #authorizeSigner(action: string, resource: Resource, object: Patched, subresource: string | undefined): void {
    const live = this.#server.find(resource, object.metadata);
    const right = live && signerRight(resource, live, object, subresource);
    if (!right) return;
    const { requests, why } = right;
    const { authorizer } = this.#server;
    const request = requests.find((one) => authorizer.decide(this.#user, one).isAllowed);
    if (!request) throw refused(action, requestFor('patch', resource, object.metadata), why);
    this.#onPermitted(request);
  }

  async #write<T>(action: string, write: () => T): Promise<T> {
    await this.#before(action);
    const { version } = this.#server.store;
    const answer = write();
    // Neither a dry run nor an apply that changes nothing is a moment of its own.
    if (this.#server.store.version !== version) this.#after(action);
    return answer;
  }
}

type Patched = Pick<KubeObject, 'metadata'>;

/** A request for one object. To the API server a Namespace is in itself. */
function requestFor(verb: string, resource: Resource, target: ObjectName, subresource?: string): ResourceRequest {
  const { name } = target;
  const namespace = resource.namespaced ? target.namespace : resource === Namespace ? name : undefined;
  return { verb, group: groupOf(resource), resource: resource.plural, subresource, namespace, name };
}

/** A request for all selected objects; one that selects a name counts as a request for that object. */
function requestForAll(verb: 'list' | 'watch', resource: Resource, selection: Selection): ResourceRequest {
  const namespace = resource.namespaced ? selection.namespace : undefined;
  const name = selectedName(selection);
  return { verb, group: groupOf(resource), resource: resource.plural, namespace, name };
}

/** The object in the requested version, reduced to its metadata if only that was requested. */
function seen(
  object: KubeObject,
  { apiVersion }: Resource,
  { metadataOnly }: Pick<Selection, 'metadataOnly'>,
): KubeObject {
  if (!metadataOnly) return { ...object, apiVersion };
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: object.metadata };
}

function nothingIfNotFound(error: unknown): undefined {
  if (isNotFound(error)) return undefined;
  throw error;
}
