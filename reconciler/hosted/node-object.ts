import type { KubeObject } from '../kube/object.ts';

/** A Node with the addresses that the cloud provider or its kubelet reports. */
export interface NodeObject extends KubeObject {
  readonly status?: {
    readonly addresses?: readonly NodeAddress[];
  };
}

/** What the operator keeps of the metadata of a Node, which its users and their controllers can fill. */
export function keptNode({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, creationTimestamp, annotations } = metadata;
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, creationTimestamp, annotations } };
}

/** One address of a Node or a Machine. */
export interface NodeAddress {
  /** Such as `InternalIP` or `Hostname`. */
  readonly type: string;
  readonly address: string;
}
