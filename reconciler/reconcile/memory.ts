import { fieldManager } from '../../constructs/api/group.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { BackgroundWork } from '../engine/tasks/background-work.ts';
import { EndpointProbes } from '../clusters/exposure/endpoint-probes.ts';
import { EtcdLoops } from '../etcd/loop.ts';
import { HostedClients } from '../clusters/hosted/clients.ts';
import { refuse } from './quarantine/cut-off.ts';
import { RequestCaches } from '../engine/tasks/request-cache.ts';
import { ReferencedObjects } from '../clusters/management/referenced-objects.ts';
import { ApplySet } from '../kube/apply-set.ts';
import { type KubeObject, objectName } from '../kube/object.ts';
import { foreignChangeReverted, hostedChangeReverted } from './status/events.ts';
import type { ConditionUpdate } from '../engine/condition-update.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import { AdoptionWaves } from '../desired-state/revision/adoption-waves.ts';

/**
 * Called with the key of a HostedControlPlane when something of it has changed that no watch of the management cluster reports.
 * @param where whether that was inside its hosted cluster, whose users may change something without end
 */
export type OnChange = (key: string, where?: 'inside') => void;

/**
 * State that is kept between reconciles, for each HostedControlPlane by its key. It may be lost: a new process finds
 * everything out again.
 */
export class Memory {
  /** The objects that were applied last, so that unchanged objects are not written again. */
  readonly applySet: ApplySet;
  /** Clients and watches of the hosted clusters. */
  readonly hosted: HostedClients;
  /** Watches of the objects that specs name. */
  readonly references: ReferencedObjects;
  readonly requestCaches: RequestCaches;
  readonly probes: EndpointProbes;
  readonly work: BackgroundWork;
  readonly etcd: EtcdLoops;
  readonly waves: AdoptionWaves;

  /**
   * @param whole of the control planes that are in no quarantine: this is the memory of the others, with the same management cluster,
   * no background tasks, and the reach of its options
   */
  constructor(options: ReconcilerOptions, onChange: OnChange, whole?: Memory) {
    const { client, management, clock, events, reach, onWatchError: onError, quarantine } = options;
    const take = quarantine && ((key: string, isTask: boolean) => quarantine.take(key, isTask));
    this.requestCaches = whole?.requestCaches ?? new RequestCaches(clock);
    this.waves = whole?.waves ?? new AdoptionWaves();
    this.probes = new EndpointProbes({ clock, onResult: onChange });
    this.work = new BackgroundWork({ clock, onChange, take, refuse: whole && refuse });
    this.etcd = new EtcdLoops({ clock, onChange, take, open: reach?.etcd });
    this.references = whole?.references ?? new ReferencedObjects({ client, clock, onChange, onError });
    this.applySet =
      whole?.applySet ??
      new ApplySet({
        client,
        fieldManager,
        lookup: (resource, name) => management.get(resource, name),
        clock,
        onRevert: (live) => events.record(live, foreignChangeReverted),
      });
    if (!whole) management.onRestored(() => this.applySet.forgetAll());
    this.hosted = new HostedClients({
      clock,
      destinations: options.destinations,
      onRequest: options.onHostedRequest,
      open: reach?.hostedApi,
      onChange: (key) => onChange(key, 'inside'),
      onRevert: (key, what) => {
        const object = management.get(HostedControlPlane, objectName(key));
        if (object) events.record(object, hostedChangeReverted(what));
      },
      onError: options.onHostedError,
      onBytes: quarantine && ((key) => quarantine.touch(key)),
    });
  }

  /**
   * Stops the watches and loops that run beside reconciles, while the operator must not act. `keepsWork` lets
   * background tasks continue.
   */
  async suspend(key: string, { keepsWork }: { readonly keepsWork: boolean }): Promise<void> {
    this.references.forget(key);
    this.waves.forget(key);
    await this.hosted.forget(key);
    // A step in progress runs to its end. This method does not wait for it.
    void this.etcd.forget(key);
    if (!keepsWork) this.work.forget(key);
  }

  async forget(key: string): Promise<void> {
    this.applySet.forget(key);
    this.requestCaches.forget(key);
    this.probes.forget(key);
    await this.suspend(key, { keepsWork: false });
  }

  async close(): Promise<void> {
    await Promise.all([this.work.close(), this.etcd.close(), this.references.close()]);
    await this.hosted.close();
  }
}

/** One reconcile of a HostedControlPlane, and what it acts with. */
export interface ReconcileContext {
  /** `namespace/name` */
  readonly key: string;
  /** The HostedControlPlane as it was last seen. */
  readonly object: KubeObject;
  readonly options: ReconcilerOptions;
  readonly memory: Memory;
  /** The condition of a control plane in quarantine. */
  readonly quarantined?: ConditionUpdate | undefined;
}
