import type { HostedControlPlane as HostedControlPlaneObject } from '../../constructs/api/hosted-control-plane.ts';
import { HostedControlPlane, HostedControlPlaneComponentTemplate } from '../../constructs/api/resources.ts';
import { newestRevision } from '../../constructs/cluster/release-revisions.ts';
import { earliest, type RequeueAt } from '../engine/requeue.ts';
import { reconcileNormal } from './reconcile-normal.ts';
import { addFinalizer } from '../clusters/management/finalizer.ts';
import { reportForeignControlPlane } from './foreign-control-plane.ts';
import { admit, saidUnownedAt, withoutControlPlane } from './admit.ts';
import { objectName } from '../kube/object.ts';
import { Memory, type OnChange, type ReconcileContext } from './memory.ts';
import { owningCluster } from '../clusters/management/owning-cluster.ts';
import { cutOffReach } from './quarantine/cut-off.ts';
import type { Standing } from './quarantine/quarantine.ts';
import { quarantined, reportedIn } from './quarantine/report.ts';
import { endOrphans } from '../certificates/orphaned-secrets.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import { reconcileDelete } from './reconcile-delete.ts';
import { type AdoptionWaves, fleetMember } from '../desired-state/revision/adoption-waves.ts';
import { chooseRelease, type ReleaseChoice } from '../desired-state/revision/choose-release.ts';
import type { RecordedRevisions } from '../desired-state/revision/believed.ts';
import { recordedRevisions } from '../desired-state/revision/revisions.ts';
import { conditionUpdate, notPaused } from '../engine/condition-update.ts';

/** How often the operator checks whose turn it is to adopt a release revision, for all that wait at once. */
const nextWaveMs = 10_000;

/** Brings the control plane of a HostedControlPlane to the state that its spec describes, as far as possible now. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #memory: Memory;
  /** For control planes in quarantine. */
  readonly #apart: { readonly options: ReconcilerOptions; readonly memory: Memory } | undefined;
  #reportChange: OnChange = () => {};
  #cancelWave: (() => void) | undefined;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    const onChange: OnChange = (key, where) => this.#reportChange(key, where);
    this.#memory = new Memory(options, onChange);
    if (!options.quarantine) return;
    const cutOff = { ...options, reach: cutOffReach };
    this.#apart = { options: cutOff, memory: new Memory(cutOff, onChange, this.#memory) };
  }

  /**
   * Sets the handler that is called with the key of a HostedControlPlane when something has changed that no watch of
   * the management cluster reports: in its hosted cluster, at its endpoint, in its etcd, or in background tasks.
   */
  onChange(handler: OnChange): void {
    this.#reportChange = handler;
  }

  /**
   * One reconcile. It can be interrupted at any point and started again.
   * @throws unexpected errors, after the status reports them: the caller retries with back-off
   */
  async reconcile(key: string): Promise<RequeueAt> {
    const { client, management, quarantine, isSecondProcess } = this.#options;
    const object = management.get(HostedControlPlane, objectName(key));
    if (!object) {
      await this.#apart?.memory.forget(key);
      await this.#memory.forget(key);
      // Without room, what belongs to the keys that it has left may not be known.
      if (management.crowdedBy(objectName(key).namespace ?? '') === undefined)
        await endOrphans({ client, management }, key);
      return undefined;
    }
    const whole = { key, object, options: this.#options, memory: this.#memory };
    if (!quarantine) return this.#attend(isSecondProcess ? { ...whole, quarantined: reportedIn(object) } : whole);

    const standing = quarantine.standingOf(key, object);
    if (standing.kind === 'inSecondProcess') return undefined;
    if (standing.kind === 'waits') return standing.until;
    const release = quarantine.takeReconcile(key);
    try {
      return await (standing.kind === 'free' ? this.#attend(whole) : this.#attendApart(whole, standing));
    } finally {
      release();
    }
  }

  /** A control plane in quarantine: a process of its own, from time to time, and what may be done for it here. */
  async #attendApart(
    context: ReconcileContext,
    { apart, retryAt }: Extract<Standing, { kind: 'apart' }>,
  ): Promise<RequeueAt> {
    const { key, object, options } = context;
    const cluster = owningCluster(object.metadata);
    const { quarantine, statusWriter } = options;
    if (!quarantine || !this.#apart) return undefined;
    const quarantinedNow = quarantined(apart, retryAt);
    let nextAt: Date | undefined = retryAt;
    if (cluster !== undefined && reportedIn(object)) {
      await this.#apart.memory.suspend(key, { keepsWork: false });
      nextAt = quarantine.tryAlone(key, cluster, () => this.#endSecondProcess(key));
      if (!nextAt) return undefined;
    }
    if (apart === 'hosted') {
      const requeueAt = await this.#attend({ ...context, ...this.#apart, quarantined: quarantinedNow });
      return earliest([requeueAt, nextAt]);
    }
    await statusWriter.patch(object, { Quarantined: quarantinedNow });
    return nextAt;
  }

  /** What the process apart has written is as new as what another client has. */
  #endSecondProcess(key: string): void {
    this.#memory.applySet.forget(key);
    this.#reportChange(key);
  }

  async #attend(context: ReconcileContext): Promise<RequeueAt> {
    const { key, object, memory } = context;
    const { client, clock, management, statusWriter } = context.options;

    const admission = admit(object, {
      crowded: management.crowdedBy(object.metadata.namespace ?? ''),
      findCluster: (namespace, name) => management.findCluster(namespace, name),
      findWithoutControlPlane: (namespace) => withoutControlPlane(management, namespace),
      findComponentTemplate: (namespace, name) =>
        management.get(HostedControlPlaneComponentTemplate, { namespace, name }),
      findRevisions: (owner, cluster) =>
        recordedRevisions(management.readerOf(owner.metadata.namespace ?? '', cluster), owner, cluster),
      chooseRelease: (hostedControlPlane, recorded) => this.#chooseRelease(key, hostedControlPlane, recorded),
    });
    const isActive = ['admitted', 'deleting', 'crowded'].includes(admission.kind);
    if (!isActive) await memory.suspend(key, { keepsWork: false });
    switch (admission.kind) {
      case 'unowned': {
        const dueAt = saidUnownedAt(object);
        if (clock.now() < dueAt) return new Date(dueAt);
        await statusWriter.patch(object, {
          ...notPaused,
          Ready: conditionUpdate('False', 'WaitingForCluster', admission.message),
        });
        return undefined;
      }
      case 'mismatch':
        await statusWriter.patch(object, {
          ...notPaused,
          Ready: conditionUpdate('False', 'ClusterMismatch', admission.message),
        });
        return undefined;
      case 'paused':
        await statusWriter.patch(object, { Paused: conditionUpdate('True', 'Paused', admission.message) });
        return undefined;
      case 'crowded':
        await statusWriter.patch(object, {
          ...notPaused,
          Ready: conditionUpdate('False', 'NamespaceTooLarge', admission.message),
        });
        return undefined;
      case 'invalid':
        const refused = conditionUpdate('False', 'InvalidConfiguration', admission.message);
        await statusWriter.patch(object, { ...notPaused, SpecAccepted: refused, Ready: refused }, { isObserved: true });
        return undefined;
      case 'deleting':
        return reconcileDelete(context, admission);
      case 'admitted':
        if (await reportForeignControlPlane(context, admission.clusterObject.metadata.name)) return undefined;
        return reconcileNormal({ ...context, object: await addFinalizer(client, management, object) }, admission);
    }
  }

  #chooseRelease(
    key: string,
    hostedControlPlane: HostedControlPlaneObject,
    recorded: RecordedRevisions,
  ): ReleaseChoice {
    const { clock, management, newestRevision: newest = newestRevision, adoptionConcurrency } = this.#options;
    const { waves } = this.#memory;
    const fleet = () => management.list(HostedControlPlane).map(fleetMember);
    const wave = { newest, fleet, concurrency: adoptionConcurrency ?? 1 };
    const turn = (revision: number) => {
      const decided = waves.turn({ key, revision, ...wave });
      this.#planWave(wave);
      return decided;
    };
    return chooseRelease({ hostedControlPlane, recorded, now: new Date(clock.now()), newest, turn });
  }

  #planWave(wave: Parameters<AdoptionWaves['next']>[0]): void {
    const { waves } = this.#memory;
    if (this.#cancelWave || !waves.isAwaited) return;
    this.#cancelWave = this.#options.clock.setTimer(nextWaveMs, () => {
      this.#cancelWave = undefined;
      for (const key of waves.next(wave)) this.#reportChange(key);
      this.#planWave(wave);
    });
  }

  /** Number of background tasks that run now or wait for their turn. */
  get runningWork(): number {
    return this.#memory.work.running;
  }

  async close(): Promise<void> {
    this.#cancelWave?.();
    await this.#apart?.memory.close();
    await this.#memory.close();
  }
}
