import type { KubeObject } from '../kube/object.ts';

/** A Node with the addresses that the cloud provider or its kubelet reports. */
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
