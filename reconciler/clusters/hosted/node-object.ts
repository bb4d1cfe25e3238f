import type { NodeObject } from '../../../imports/kubernetes.ts';
import {
  clientCertificateSignerAnnotation,
  machineAnnotation,
  ownerKindAnnotation,
  ownerNameAnnotation,
  servingCertificateSignerAnnotation,
} from '../../../constructs/api/group.ts';
import { itemsOf, textOf } from '../../../constructs/cluster/foreign-values.ts';
import type { KubeObject } from '../../kube/object.ts';
import { keptIdentity } from './kept-object.ts';

/** The name of a Machine, a part of a fingerprint, or a time. */
const longestText = 253;

/** When the kubelet has last reported the state of its Node, which it does every five minutes at least. */
export function lastReport(node: NodeObject | undefined): Date | undefined {
  const at = itemsOf(node?.status?.conditions).find(({ type }) => type === 'Ready')?.lastHeartbeatTime;
  return at === undefined ? undefined : new Date(at);
}

/** The annotations that say how a Node was joined and certified. */
const keptAnnotations = [
  machineAnnotation,
  ownerKindAnnotation,
  ownerNameAnnotation,
  clientCertificateSignerAnnotation,
  servingCertificateSignerAnnotation,
] as const;

/** What the operator keeps of the metadata of a Node, which its users and their controllers can fill. */
export function keptNode(node: KubeObject): KubeObject {
  const { annotations = {} } = node.metadata;
  const kept = keptAnnotations.flatMap((name) => {
    const value = textOf(annotations[name]);
    return value === undefined ? [] : [[name, value.slice(0, longestText)] as const];
  });
  const { metadata, ...identity } = keptIdentity(node);
  return { ...identity, metadata: { ...metadata, annotations: Object.fromEntries(kept) } };
}

/** What of a Node a list of reports holds: the metadata that the operator keeps, and the condition with the time of the last report. */
export function keptReport(node: NodeObject): NodeObject {
  const ready = itemsOf(node.status?.conditions).find(({ type }) => type === 'Ready');
  const conditions = ready
    ? [{ type: 'Ready', lastHeartbeatTime: textOf(ready.lastHeartbeatTime)?.slice(0, longestText) }]
    : [];
  return { ...keptNode(node), status: { conditions } };
}
