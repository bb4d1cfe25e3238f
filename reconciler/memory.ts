import { fieldManager } from '../constructs/api/group.ts';
import { HostedControlPlane } from '../constructs/api/resources.ts';
import { BackgroundWork } from './tasks/background-work.ts';
import { EndpointProbes } from './exposure/endpoint-probes.ts';
import { EtcdLoops } from './etcd/loop.ts';
import { HostedClients } from './hosted/clients.ts';
import { RequestCaches } from './tasks/request-cache.ts';
import { ApplySet } from './kube/apply-set.ts';
import { type KubeObject, objectName } from './kube/object.ts';
import { foreignChangeReverted, hostedChangeReverted } from './status/events.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';

/**
 * What lives on between passes, for each HostedControlPlane by its key. Nothing is lost with it: a process that starts
 * without it finds everything out again.
 */
export class Memory {
  /** What was applied last, so that what is there already is not written again. */
  readonly applySet: ApplySet;
  /** Clients and watches of the hosted clusters. */
  readonly hosted: HostedClients;
  readonly requestCaches: RequestCaches;
  readonly probes: EndpointProbes;
  readonly work: BackgroundWork;
  readonly etcd: EtcdLoops;

  /** @param onChange hears the key when something of this has changed that no watch of the management cluster tells */
  constructor(options: ReconcilerOptions, onChange: (key: string) => void) {
    const { client, management, clock, events, reach } = options;
    this.requestCaches = new RequestCaches(clock);
    this.probes = new EndpointProbes({ clock, onResult: onChange });
    this.work = new BackgroundWork({ clock, onChange });
    this.etcd = new EtcdLoops({ clock, onChange, open: reach?.etcd });
    this.applySet = new ApplySet({
      client,
      fieldManager,
      lookup: (resource, name) => management.get(resource, name),
      clock,
      onRevert: (live) => events.record(live, foreignChangeReverted),
    });
    this.hosted = new HostedClients({
      clock,
      lookup: options.lookup,
      onRequest: options.onHostedRequest,
      open: reach?.hostedApi,
      onChange,
      onRevert: (key, what) => {
        const object = management.get(HostedControlPlane, objectName(key));
        if (object) events.record(object, hostedChangeReverted(what));
      },
      onError: options.onHostedError,
    });
  }

  /** Lets go of what watches and acts beside the passes, while nothing may be done; slow work goes on if it is kept. */
  async rest(key: string, { keepsWork }: { readonly keepsWork: boolean }): Promise<void> {
    await this.hosted.forget(key);
    // A step that is under way ends, and nobody waits for it.
    void this.etcd.forget(key);
    if (!keepsWork) this.work.forget(key);
  }

  async forget(key: string): Promise<void> {
    this.applySet.forget(key);
    this.requestCaches.forget(key);
    this.probes.forget(key);
    await this.rest(key, { keepsWork: false });
  }

  async close(): Promise<void> {
    await Promise.all([this.work.close(), this.etcd.close()]);
    await this.hosted.close();
  }
}

/** One reconcile of a HostedControlPlane, and what there is to act with. */
export interface ReconcileContext {
  /** `namespace/name` */
  readonly key: string;
  /** The HostedControlPlane as it was last seen. */
  readonly object: KubeObject;
  readonly options: ReconcilerOptions;
  readonly memory: Memory;
}
