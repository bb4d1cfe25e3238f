import type { LookupFunction } from 'node:net';
import { fieldManager, finalizer } from '../constructs/api/group.ts';
import { HostedControlPlane } from '../constructs/api/resources.ts';
import type { HostedCluster } from '../constructs/control-plane/cluster.ts';
import { overruledArguments } from '../constructs/control-plane/overruled.ts';
import { type Again, earliest } from './again.ts';
import { BackgroundWork } from './background-work.ts';
import { finalBackup } from './backup/final-backup.ts';
import { storeInquiriesOf } from './backup/store-inquiries.ts';
import { infrastructureOf } from './cluster-object.ts';
import { EndpointProbes } from './endpoint-probes.ts';
import { EtcdCares } from './etcd/care.ts';
import { addFinalizer, removeFinalizer } from './finalizer.ts';
import { type Admission, admit } from './gate.ts';
import { mergeFacts, mergeReports, phaseVerdicts, runPhases, throwUnexpected } from './graph.ts';
import { hostedClusterOf } from './hosted-cluster.ts';
import { HostedClients } from './hosted/clients.ts';
import { hostedTarget } from './hosted/target.ts';
import { InquiryBook } from './inquiries.ts';
import { ApplySet } from './kube/apply-set.ts';
import type { KubeClient } from './kube/client.ts';
import type { Clock } from './kube/clock.ts';
import type { EventRecorder } from './kube/events.ts';
import { type KubeObject, objectName } from './kube/object.ts';
import type { RequestRecord } from './kube/request.ts';
import type { ManagementCluster } from './management-cluster.ts';
import { argumentsOverruled, foreignChangeReverted, hostedChangeReverted } from './notices.ts';
import { observe } from './observation.ts';
import { deleteControlPlane } from './phases/deletion.ts';
import { prune } from './prune.ts';
import { pruneWorkload } from './prune-workload.ts';
import { phases } from './reconcile.ts';
import type { Scope } from './scope.ts';
import { observedStatus, summarize } from './status.ts';
import { verdict } from './verdict.ts';
import type { StatusWriter } from './status-writer.ts';
import { createRemover, createWriter } from './writer.ts';

export interface ReconcilerOptions {
  readonly client: KubeClient;
  readonly management: ManagementCluster;
  readonly statusWriter: StatusWriter;
  readonly clock: Clock;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Resolves the hosts of endpoints. By default the machine's resolver does. */
  readonly lookup?: LookupFunction | undefined;
  /** Hears of watches of hosted clusters that were interrupted, with the key of the HostedControlPlane. */
  readonly onHostedError: (key: string, error: unknown) => void;
  /** Hears every request to a hosted cluster. */
  readonly onHostedRequest?: ((record: RequestRecord) => void) | undefined;
  /** Namespace this process runs in as a pod; undefined outside of the cluster. */
  readonly operatorNamespace?: string | undefined;
  /** Image that pods which restore backups run; undefined where nobody knows it. */
  readonly operatorImage?: string | undefined;
}

/** Makes the world match one HostedControlPlane, as far as it can go now. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #applySet: ApplySet;
  readonly #hosted: HostedClients;
  #tellChange: (key: string) => void = () => {};
  readonly #inquiries: InquiryBook;
  readonly #probes: EndpointProbes;
  readonly #work: BackgroundWork;
  readonly #etcd: EtcdCares;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    const { client, management } = options;
    this.#inquiries = new InquiryBook(options.clock);
    this.#probes = new EndpointProbes({ clock: options.clock, onResult: (key) => this.#tellChange(key) });
    this.#work = new BackgroundWork({ clock: options.clock, onChange: (key) => this.#tellChange(key) });
    this.#etcd = new EtcdCares({ clock: options.clock, onChange: (key) => this.#tellChange(key) });
    this.#applySet = new ApplySet({
      client,
      fieldManager,
      lookup: (resource, name) => management.get(resource, name),
      clock: options.clock,
      onRevert: (live) => options.events.record(live, foreignChangeReverted),
    });
    this.#hosted = new HostedClients({
      clock: options.clock,
      lookup: options.lookup,
      onRequest: options.onHostedRequest,
      onChange: (key) => this.#tellChange(key),
      onRevert: (key, what) => {
        const object = management.get(HostedControlPlane, objectName(key));
        if (object) options.events.record(object, hostedChangeReverted(what));
      },
      onError: options.onHostedError,
    });
  }

  /**
   * Calls back with the key of each HostedControlPlane for which something has changed that no watch of the management
   * cluster tells: in its hosted cluster, of its endpoint, of its etcd, or of slow work.
   */
  onChange(handler: (key: string) => void): void {
    this.#tellChange = handler;
  }

  /**
   * One pass. Can be stopped between any two steps and started again.
   * @throws when something unexpected failed, after the status says so: the caller retries with back-off.
   */
  async reconcile(key: string): Promise<Again> {
    const { client, management, statusWriter } = this.#options;
    const object = management.get(HostedControlPlane, objectName(key));
    if (!object) return this.#forget(key);

    const admission = admit(object, (namespace, name) => management.findCluster(namespace, name));
    if (admission.kind !== 'admitted') {
      await this.#hosted.forget(key);
      // A step that is under way ends, and nobody waits for it.
      void this.#etcd.forget(key);
      // The last backup of one that is being deleted goes on over many passes.
      if (admission.kind !== 'deleting') this.#work.forget(key);
    }
    switch (admission.kind) {
      case 'unowned':
        await statusWriter.patch(object, { Ready: verdict('False', 'WaitingForCluster', admission.message) });
        return undefined;
      case 'mismatch':
        await statusWriter.patch(object, { Ready: verdict('False', 'ClusterMismatch', admission.message) });
        return undefined;
      case 'paused':
        await statusWriter.patch(object, { Paused: verdict('True', 'Paused', admission.message) });
        return undefined;
      case 'invalid':
        await statusWriter.patch(object, { Ready: verdict('False', 'InvalidConfiguration', admission.message) });
        return undefined;
      case 'deleting':
        return this.#delete(key, object, admission);
      case 'admitted':
        return this.#bringUp(key, await addFinalizer(client, management, object), admission);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#work.close(), this.#etcd.close()]);
    await this.#hosted.close();
  }

  async #bringUp(key: string, object: KubeObject, admission: Extract<Admission, { kind: 'admitted' }>): Promise<Again> {
    const { hostedControlPlane, clusterObject } = admission;
    const { client, management, clock, statusWriter } = this.#options;
    const { namespace, name, uid = '' } = hostedControlPlane.metadata;
    const cluster = hostedClusterOf(admission);
    const world = management.worldOf(namespace, cluster.name);
    const now = new Date(clock.now());
    const rolloutAfter = cluster.spec.rollout?.after;
    const isDue = rolloutAfter !== undefined && new Date(rolloutAfter) <= now;
    const scope: Scope = {
      hostedControlPlane,
      clusterObject,
      cluster,
      facts: {
        certificates: {},
        mounts: {},
        owner: { name, uid },
        operatorNamespace: this.#options.operatorNamespace,
        operatorImage: this.#options.operatorImage,
        rolloutAfter: isDue ? rolloutAfter : undefined,
      },
      world,
      surroundings: management.surroundingsOf(namespace, name),
      writer: createWriter({
        client,
        applySet: this.#applySet,
        management,
        key,
        namespace,
        name,
        cluster: cluster.name,
        infrastructure: infrastructureOf(clusterObject),
        inquiries: this.#inquiries,
      }),
      hosted: (facts) => this.#hosted.get(key, hostedTarget(cluster, facts, world)),
      endpointProbe: this.#probes.of(key),
      work: this.#work.of(key),
      etcdCare: this.#etcd.of(key),
      storeInquiries: storeInquiriesOf(client, namespace),
      now,
    };

    this.#tellOverruled(object, cluster, hostedControlPlane.status?.observedGeneration);
    const results = await runPhases(phases, scope);

    const facts = mergeFacts(results.map((result) => result.facts));
    const observation = observe(
      cluster,
      hostedControlPlane.status,
      world,
      phaseVerdicts(results),
      facts,
      mergeReports(results),
      scope.etcdCare.report(),
    );
    const status = observedStatus(observation);
    const initialized = status.initialization?.controlPlaneInitialized ?? false;
    await statusWriter.write(object, status, summarize(observation, initialized));

    throwUnexpected(results);
    await prune(this.#applySet, key, { cluster, world, facts }, results);
    const unpruned = await pruneWorkload({ ...scope, facts }, results);
    const rollout = rolloutAfter !== undefined && !isDue ? new Date(rolloutAfter) : undefined;
    return earliest([...results.map(({ again }) => again), rollout, unpruned]);
  }

  async #delete(
    key: string,
    object: KubeObject,
    { cluster, clusterIsDeleting }: Extract<Admission, { kind: 'deleting' }>,
  ): Promise<Again> {
    const { client, management, statusWriter, clock } = this.#options;
    const { namespace = '', finalizers = [], uid } = object.metadata;
    if (!finalizers.includes(finalizer)) return undefined;

    if (cluster !== undefined) {
      const world = management.worldOf(namespace, cluster);
      const outcome = await deleteControlPlane({
        cluster,
        ownerUid: uid,
        retainVolumes: retainsVolumes(object),
        finalBackup: () =>
          finalBackup({
            object,
            namespace,
            cluster,
            clusterObject: management.findCluster(namespace, cluster),
            world,
            storeInquiries: storeInquiriesOf(client, namespace),
            work: this.#work.of(key),
            now: new Date(clock.now()),
          }),
        world,
        remover: createRemover({ client, namespace, cluster, clusterIsDeleting }),
      });
      if (outcome.kind === 'wait') {
        await statusWriter.patch(object, {
          Deleting: verdict('True', outcome.reason, outcome.message),
          Ready: verdict('False', 'NotReady', `being deleted: ${outcome.message}`),
        });
        return outcome.afterMs === undefined ? undefined : new Date(clock.now() + outcome.afterMs);
      }
    }

    await removeFinalizer(client, object);
    return this.#forget(key);
  }

  /** Once per change of the spec, and not at every pass: the user's arguments that ours overrule. */
  #tellOverruled(object: KubeObject, cluster: HostedCluster, observedGeneration: number | undefined): void {
    if (object.metadata.generation === observedGeneration) return;
    for (const { component, flags } of overruledArguments(cluster)) {
      this.#options.events.record(object, argumentsOverruled(component, flags));
    }
  }

  async #forget(key: string): Promise<undefined> {
    this.#applySet.forget(key);
    this.#inquiries.forget(key);
    this.#probes.forget(key);
    this.#work.forget(key);
    void this.#etcd.forget(key);
    await this.#hosted.forget(key);
  }
}

function retainsVolumes({ spec }: KubeObject & { spec?: { etcd?: { volumeRetention?: string } } }): boolean {
  return spec?.etcd?.volumeRetention === 'Retain';
}
