import type { Memory } from './memory.ts';
import type { KubeObject } from './kube/object.ts';
import type { ReconcilerOptions } from './reconciler-options.ts';

/** One look at one HostedControlPlane, and what there is to act with. */
export interface ReconcileContext {
  /** `namespace/name` */
  readonly key: string;
  /** The HostedControlPlane as it was last seen. */
  readonly object: KubeObject;
  readonly options: ReconcilerOptions;
  readonly memory: Memory;
}
