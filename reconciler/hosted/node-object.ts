import type { KubeObject } from '../kube/object.ts';

/** A Node with what the cloud provider or its kubelet reports. */
export interface NodeObject extends KubeObject {
  readonly status?: {
    readonly addresses?: readonly NodeAddress[];
    readonly conditions?: readonly { readonly type: string; readonly lastHeartbeatTime?: string | undefined }[];
  };
}

/** When the kubelet has last reported the state of its Node, which it does every five minutes at least. */
export function lastReport(node: NodeObject | undefined): Date | undefined {
  const at = node?.status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime;
  return at === undefined ? undefined : new Date(at);
}

/** What the operator keeps of the metadata of a Node, which its users and their controllers can fill. */
export function keptNode({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, creationTimestamp, annotations } = metadata;
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, creationTimestamp, annotations } };
}

/** What of a Node a list of reports holds: the metadata that the operator keeps, and the condition with the time of the last report. */
export function keptReport(node: NodeObject): NodeObject {
  const conditions = node.status?.conditions?.filter(({ type }) => type === 'Ready') ?? [];
  return { ...keptNode(node), status: { conditions } };
}

/** One address of a Node or a Machine. */
export interface NodeAddress {
  /** Such as `InternalIP` or `Hostname`. */
  readonly type: string;
  readonly address: string;
}
