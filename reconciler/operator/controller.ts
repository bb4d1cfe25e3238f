import { createHash } from 'node:crypto';
import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import { isConditionType } from '../../constructs/api/conditions.ts';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import {
  Cluster,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  type Resource,
  Secret,
} from '../../constructs/api/resources.ts';
import { owningCluster } from '../clusters/management/owning-cluster.ts';
import type { Clock } from '../kube/clock.ts';
import { isOutage } from '../kube/errors.ts';
import type { ObjectChange } from '../kube/object-cache.ts';
import { type KubeObject, objectKey, objectName } from '../kube/object.ts';
import { Pace } from '../kube/pace.ts';
import { type Priority, WorkQueue } from '../kube/queue.ts';
import type { ManagementCluster } from '../clusters/management/cache.ts';
import { orphanKey } from '../certificates/orphaned-secrets.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import { resyncMs } from '../engine/tasks/resync.ts';
import type { Logger } from '../engine/log.ts';
import { detached, inSpan, withSteps } from '../kube/span.ts';

interface ControllerOptions {
  readonly management: Pick<
    ManagementCluster,
    'onChange' | 'onReturned' | 'onRoomChange' | 'onSharedResourcesChange' | 'get' | 'list'
  >;
  readonly reconciler: Pick<Reconciler, 'reconcile' | 'onChange'>;
  readonly concurrency: number;
  /** The key of the only HostedControlPlane that is reconciled. By default all are. */
  readonly only?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after every reconcile, with its result and duration. */
  readonly onReconciled?: ((result: 'success' | 'error', ms: number) => void) | undefined;
}

/** Delay that combines bursts of changes, such as the start of three pods, into one reconcile. */
const gatherMs = 20;

/** Minimum delay, so that a requeue time in the past does not cause a busy loop. */
const soonestMs = 100;

/**
 * How often one HostedControlPlane is reconciled: without delay while it is brought up, but only once a second if
 * something changes without end, such as objects that its users write in the hosted cluster.
 */
const pace = { burst: 100, intervalMs: 1_000 };

/**
 * How often changes in its hosted cluster cause a reconcile. Its users and its API server make them, and may do so without end: twenty such
 * clusters leave most of a processor to the others. Whatever else changes is reconciled at once.
 */
const insidePace = { burst: 30, intervalMs: 10_000 };

/** Converts changes of watched objects to reconciles of their HostedControlPlane. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  /** `namespace/cluster` → keys of the HostedControlPlanes that this Cluster owns; more than one only by mistake. */
  readonly #keys = new Map<string, Set<string>>();
  readonly #insidePace: Pace;
  /** Those in whose hosted cluster something has changed since their last reconcile began. */
  readonly #changedInside = new Set<string>();
  #cancelResync: () => void = () => {};
  #resyncs = 0;
  #isStarted = false;
  /** Why the objects are reconciled that a watch reports now. */
  #cause: Cause = 'listed';

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { clock, concurrency, log } = options;
    this.#insidePace = new Pace(insidePace, clock);
    this.#queue = new WorkQueue({
      process: (key) => this.#process(key),
      concurrency,
      groupOf: (key) => objectName(key).namespace ?? key,
      pace,
      clock,
      onError: (key, error) => log.warn({ hostedControlPlane: key, error }, 'reconcile failed, retrying'),
      isShared: isOutage,
    });
  }

  /** Starts to reconcile: all existing objects, then every changed one. */
  start(): void {
    this.#isStarted = true;
    this.#options.management.onChange((resource, change) => this.#enqueue(resource, change));
    this.#cause = 'event';
    // Their back-off of up to a minute was for an API server that did not answer.
    this.#options.management.onReturned(() => this.#queue.retryFailed());
    this.#options.management.onRoomChange((namespace) => this.#addAllOf(namespace));
    this.#options.management.onSharedResourcesChange((key) => this.#add(key));
    this.#options.reconciler.onChange((key, where) => (where === 'inside' ? this.#addInside(key) : this.#add(key)));
    this.#scheduleResync();
  }

  /** Accepts no new work, and resolves when all running reconciles have ended. */
  async stop(): Promise<void> {
    this.#cancelResync();
    await this.#queue.stop();
  }

  /** Reconciles all existing objects again, once it has started. */
  reconcileAll(): void {
    if (!this.#isStarted) return;
    for (const { metadata } of this.#options.management.list(HostedControlPlane))
      this.#add(objectKey(metadata), { cause: 'resync', delayMs: 0 });
  }

  /** HostedControlPlanes that wait for a free worker. */
  get queueDepth(): number {
    return this.#queue.depth;
  }

  /** Since work is due of which none has begun and none has ended, in milliseconds; 0 when none is due. */
  get undoneMs(): number {
    return this.#queue.undoneMs;
  }

  /** The reconcile that has stood still the longest; undefined when none runs. */
  get stillest(): WorkQueue['stillest'] {
    return this.#queue.stillest;
  }

  async #process(key: string): Promise<void> {
    const { clock, onReconciled, reconciler } = this.#options;
    const begun = clock.now();
    if (this.#changedInside.delete(key)) this.#insidePace.count(key);
    let result: 'success' | 'error' = 'error';
    try {
      const attributes = { 'hosted_control_plane.key': key };
      const reconcile = () => inSpan('reconcile', attributes, () => reconciler.reconcile(key));
      const requeueAt = await detached(() => withSteps(() => this.#queue.noteStep(key), reconcile));
      result = 'success';
      const delayMs = requeueAt && Math.max(soonestMs, requeueAt.getTime() - clock.now());
      if (delayMs !== undefined) this.#add(key, { delayMs });
    } finally {
      onReconciled?.(result, clock.now() - begun);
    }
  }

  #enqueue(resource: Resource, { object, old, type }: ObjectChange<KubeObject>): void {
    if (resource === HostedControlPlane) {
      // Of its status, the operator needs to know what others write.
      if (old && concern(old) === concern(object)) return;
      const key = objectKey(object.metadata);
      const cluster = owningCluster(object.metadata);
      if (cluster !== undefined) {
        // A user may name other Clusters as its owner again and again.
        if (old && owningCluster(old.metadata) !== cluster) this.#forgetKey(key);
        this.#rememberKey(`${object.metadata.namespace}/${cluster}`, key);
      }
      if (type === 'deleted') this.#forgetKey(key);
      this.#add(key, { cause: this.#cause === 'listed' ? 'listed' : 'request' });
      return;
    }
    if (resource === HostedControlPlaneComponentTemplate) return this.#enqueueUsers(object);
    const cluster = resource === Cluster ? object.metadata.name : clusterOf(object);
    const keys = cluster && this.#keys.get(`${object.metadata.namespace}/${cluster}`);
    for (const key of keys || []) this.#add(key);
    const orphan = resource === Secret && !keys ? orphanKey(object) : undefined;
    if (orphan !== undefined) this.#add(orphan);
  }

  /** A template never changes: it appears, is deleted, and may be created again with other settings. */
  #enqueueUsers({ metadata: { namespace, name } }: KubeObject): void {
    for (const { metadata, spec } of this.#options.management.list(HostedControlPlane) as HostedControlPlaneObject[]) {
      if (metadata.namespace === namespace && spec?.componentTemplateRef?.name === name) this.#add(objectKey(metadata));
    }
  }

  /** While a namespace is crowded, no change in it causes anything. */
  #addAllOf(namespace: string): void {
    const listOf = (resource: Resource) =>
      this.#options.management.list(resource).filter(({ metadata }) => metadata.namespace === namespace);
    for (const { metadata } of listOf(HostedControlPlane)) this.#add(objectKey(metadata));
    for (const orphan of listOf(Secret).map(orphanKey)) if (orphan !== undefined) this.#add(orphan);
  }

  #add(key: string, { delayMs = gatherMs, cause = this.#cause }: { delayMs?: number; cause?: Cause } = {}): void {
    const { only = key, management, clock } = this.#options;
    if (only !== key) return;
    const object: HostedControlPlaneObject | undefined = management.get(HostedControlPlane, objectName(key));
    this.#queue.addAfter(key, delayMs, priorityOf(cause, object, clock.now()));
  }

  #addInside(key: string): void {
    this.#changedInside.add(key);
    this.#add(key, { delayMs: Math.max(gatherMs, this.#insidePace.delayMs(key)) });
  }

  #rememberKey(cluster: string, key: string): void {
    this.#keys.set(cluster, (this.#keys.get(cluster) ?? new Set()).add(key));
  }

  #forgetKey(key: string): void {
    for (const [cluster, keys] of this.#keys) if (keys.delete(key) && keys.size === 0) this.#keys.delete(cluster);
  }

  #scheduleResync(): void {
    const { clock, management } = this.#options;
    this.#cancelResync = clock.setTimer(resyncMs / resyncShares, () => {
      const share = this.#resyncs++ % resyncShares;
      for (const { metadata } of management.list(HostedControlPlane))
        if (shareOf(objectKey(metadata)) === share) this.#add(objectKey(metadata), { cause: 'resync' });
      this.#scheduleResync();
    });
  }
}

/** All control planes at once would keep each change waiting for minutes. */
const resyncShares = 60;

/** The share of the keys with which a key is reconciled again: always the same one. */
function shareOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE() % resyncShares;
}

/**
 * What concerns the operator of a HostedControlPlane, as text to compare: the metadata, because a change of the spec changes the
 * generation, and the conditions that other controllers write, on which readiness gates wait.
 */
function concern({ metadata, status }: HostedControlPlaneObject): string {
  const { resourceVersion: _, managedFields: __, ...rest } = metadata;
  const others = status?.conditions?.filter(({ type }) => !isConditionType(type)) ?? [];
  return JSON.stringify([rest, others.map(({ type, status: state }) => [type, state])]);
}

function clusterOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[clusterNameLabel];
}

/** Why a HostedControlPlane is reconciled. */
export type Cause =
  /** Nothing has happened. */
  | 'resync'
  /** It was there when the operator started. */
  | 'listed'
  /** Something that belongs to it has changed. */
  | 'event'
  /** Another client has changed the object itself. */
  | 'request';

const priorities: Readonly<Record<Cause, Priority>> = { resync: 0, listed: 1, event: 2, request: 3 };

/** Those that are being brought up come first, the most advanced of them before the others. */
const bringUp: Priority = 4;

/** For so long an object that is not Ready counts as being brought up. */
const bringUpMs = 60 * 60_000;

/**
 * The priority of a reconcile. Of a thousand control planes that were ordered at once, a queue in order of arrival gives all their first
 * step before any gets its second, and all are ready at the end.
 * @param now milliseconds since the epoch
 */
export function priorityOf(cause: Cause, object: HostedControlPlaneObject | undefined, now: number): Priority {
  const { conditions = [] } = object?.status ?? {};
  const { creationTimestamp = '', deletionTimestamp } = object?.metadata ?? {};
  // Without a status it has not begun.
  if (conditions.length === 0 || deletionTimestamp !== undefined) return priorities[cause];
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (isReady || !(now - Date.parse(creationTimestamp) < bringUpMs)) return priorities[cause];
  return bringUp + conditions.filter(({ status }) => status === 'True').length / conditions.length;
}
