import { HostedControlPlane } from '../constructs/api/resources.ts';
import type { RequeueAt } from './engine/requeue.ts';
import { reconcileNormal } from './reconcile-normal.ts';
import { addFinalizer } from './management/finalizer.ts';
import { admit } from './admission.ts';
import { objectName } from './kube/object.ts';
import { Memory } from './memory.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';
import { reconcileDelete } from './reconcile-delete.ts';
import { conditionUpdate } from './engine/condition-update.ts';

/** Makes the world match one HostedControlPlane, as far as it can go now. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #memory: Memory;
  #reportChange: (key: string) => void = () => {};

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#memory = new Memory(options, (key) => this.#reportChange(key));
  }

  /**
   * Calls back with the key of each HostedControlPlane for which something has changed that no watch of the management
   * cluster tells: in its hosted cluster, of its endpoint, of its etcd, or of slow work.
   */
  onChange(handler: (key: string) => void): void {
    this.#reportChange = handler;
  }

  /**
   * One pass. Can be stopped between any two steps and started again.
   * @throws when something unexpected failed, after the status says so: the caller retries with back-off.
   */
  async reconcile(key: string): Promise<RequeueAt> {
    const { client, management, statusWriter } = this.#options;
    const memory = this.#memory;
    const object = management.get(HostedControlPlane, objectName(key));
    if (!object) {
      await memory.forget(key);
      return undefined;
    }

    const admission = admit(object, (namespace, name) => management.findCluster(namespace, name));
    // The last backup of one that is being deleted goes on over many passes.
    if (admission.kind !== 'admitted') await memory.rest(key, { keepsWork: admission.kind === 'deleting' });
    const pass = { key, object, options: this.#options, memory };
    switch (admission.kind) {
      case 'unowned':
        await statusWriter.patch(object, { Ready: conditionUpdate('False', 'WaitingForCluster', admission.message) });
        return undefined;
      case 'mismatch':
        await statusWriter.patch(object, { Ready: conditionUpdate('False', 'ClusterMismatch', admission.message) });
        return undefined;
      case 'paused':
        await statusWriter.patch(object, { Paused: conditionUpdate('True', 'Paused', admission.message) });
        return undefined;
      case 'invalid':
        await statusWriter.patch(object, {
          Ready: conditionUpdate('False', 'InvalidConfiguration', admission.message),
        });
        return undefined;
      case 'deleting':
        return reconcileDelete(pass, admission);
      case 'admitted':
        return reconcileNormal({ ...pass, object: await addFinalizer(client, management, object) }, admission);
    }
  }

  /** How much slow work runs now. */
  get runningWork(): number {
    return this.#memory.work.running;
  }

  async close(): Promise<void> {
    await this.#memory.close();
  }
}
