import { type Resource, resourceNamed, Secret } from '../../../constructs/api/resources.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { auditTargets } from '../../../constructs/control-plane/api-server/audit/targets.ts';
import { mountsOf } from '../../../constructs/pod/mounts.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { isForbidden } from '../../kube/errors.ts';
import { Informer } from '../../kube/informer.ts';
import { identityOf, type KubeObject } from '../../kube/object.ts';

/** An object of a user that a spec names. */
export interface Reference {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

/**
 * The objects whose change a control plane must follow: what its API servers mount, because they read files only when
 * they start, and the tokens of audit receivers, of which they mount copies. Everything else that a spec names is read again
 * before each use.
 */
export function referencesOf({ namespace, spec }: Pick<HostedCluster, 'namespace' | 'spec'>): Reference[] {
  const mounts = mountsOf(spec.deployment.apiServer.mounts);
  const tokens = auditTargets({ namespace, spec }).flatMap(({ token }) => token ?? []);
  return [
    ...mounts.map(({ kind, object }) => ({ resource: resourceNamed(kind), namespace, name: object })),
    ...tokens.map((token) => ({ resource: Secret, namespace: token.namespace, name: token.name })),
  ];
}

export interface ReferencedObjectsOptions {
  readonly client: KubernetesApi;
  readonly clock: Clock;
  /** Called with the key of each HostedControlPlane that refers to a changed object. */
  readonly onChange: (key: string) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * How many objects are watched at the same time, each by a stream of its own: of all, and of the HostedControlPlanes of one namespace.
 * The resync reports changes of those beyond.
 */
export const watchLimits = { all: 500, perNamespace: 100 } as const;

interface Watch {
  readonly informer: Informer;
  /** The namespace of the HostedControlPlane that referred to the object first. */
  readonly namespace: string;
  /** The HostedControlPlanes that refer to the object. */
  readonly keys: Set<string>;
}

/** Watches the objects that specs name, one by one, and keeps nothing but their versions. */
export class ReferencedObjects {
  readonly #options: ReferencedObjectsOptions;
  readonly #watches = new Map<string, Watch>();

  constructor(options: ReferencedObjectsOptions) {
    this.#options = options;
  }

  /**
   * Watches exactly these objects for a HostedControlPlane. A new watch reports its object once, because that may be
   * newer than what the running reconcile has read.
   * @returns how many of them are beyond the limits, and not watched
   */
  follow(key: string, references: readonly Reference[]): number {
    const wanted = new Map(references.map((reference) => [identity(reference), reference]));
    for (const [id, watch] of this.#watches) if (!wanted.has(id)) this.#leave(id, watch, key);
    for (const [id, reference] of wanted) this.#join(id, reference, key);
    return [...wanted.keys()].filter((id) => !this.#watches.has(id)).length;
  }

  /** Ends the watches of a HostedControlPlane that no other one needs. */
  forget(key: string): void {
    this.follow(key, []);
  }

  async close(): Promise<void> {
    const watches = [...this.#watches.values()];
    this.#watches.clear();
    await Promise.all(watches.map(({ informer }) => informer.stop()));
  }

  #join(id: string, reference: Reference, key: string): void {
    const watch = this.#watches.get(id);
    if (watch) return void watch.keys.add(key);
    const [namespace = ''] = key.split('/');
    const own = this.#countOf(namespace);
    if (own >= watchLimits.perNamespace) return;
    if (this.#watches.size >= watchLimits.all && !this.#takeFrom(own)) return;
    this.#watches.set(id, this.#watch(reference, namespace, new Set([key])));
  }

  /** Ends a watch of the namespace that has most, if it has more than another one would then have. */
  #takeFrom(own: number): boolean {
    const namespaces = [...new Set([...this.#watches.values()].map(({ namespace }) => namespace))];
    const [most] = namespaces
      .map((namespace) => ({ namespace, count: this.#countOf(namespace) }))
      .sort((one, other) => other.count - one.count);
    if (!most || most.count <= own + 1) return false;
    const [id, watch] = [...this.#watches].findLast(([, { namespace }]) => namespace === most.namespace) ?? [];
    if (id === undefined || !watch) return false;
    this.#watches.delete(id);
    void watch.informer.stop();
    return true;
  }

  #countOf(namespace: string): number {
    return [...this.#watches.values()].filter((watch) => watch.namespace === namespace).length;
  }

  #leave(id: string, { informer, keys }: Watch, key: string): void {
    if (!keys.delete(key) || keys.size > 0) return;
    this.#watches.delete(id);
    void informer.stop();
  }

  #watch({ resource, namespace, name }: Reference, owner: string, keys: Set<string>): Watch {
    const { client, clock, onChange } = this.#options;
    // The phase that reads the object reports that the operator may not.
    const onError = (error: unknown) => {
      if (!isForbidden(error)) this.#options.onError(error);
    };
    const fieldSelector = `metadata.name=${name}`;
    const selection = { resource, namespace, fieldSelector, metadataOnly: true };
    const informer = new Informer({ ...selection, client, clock, onError, keep: versionOnly });
    informer.onChange(() => {
      for (const key of keys) onChange(key);
    });
    informer.start();
    return { informer, namespace: owner, keys };
  }
}

function identity({ resource: { apiVersion, kind }, namespace, name }: Reference): string {
  return identityOf({ apiVersion, kind, metadata: { namespace, name } });
}

/** Annotations may hold the content, such as the one in which kubectl keeps what it has applied. */
function versionOnly({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { namespace, name, uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { namespace, name, uid, resourceVersion } };
}
