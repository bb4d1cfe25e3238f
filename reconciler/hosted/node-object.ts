import type { KubeObject } from '../kube/object.ts';

/** A Node with what the cloud, or its kubelet, says of its addresses. */
export interface NodeObject extends KubeObject {
  readonly status?: {
    readonly addresses?: readonly NodeAddress[];
  };
}

/** One address of a Node or a Machine. */
export interface NodeAddress {
  /** Such as `InternalIP` or `Hostname`. */
  readonly type: string;
  readonly address: string;
}
