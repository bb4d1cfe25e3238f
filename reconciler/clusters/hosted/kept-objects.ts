import type { DeploymentObject, CertificateSigningRequestObject, NodeObject } from '../../../imports/kubernetes.ts';
import { itemsOf, textOf } from '../../../constructs/cluster/foreign-values.ts';
import { decisiveManagedFields } from '../../kube/apply-decision.ts';
import {
  fieldManager,
  clientCertificateSignerAnnotation,
  machineAnnotation,
  ownerKindAnnotation,
  ownerNameAnnotation,
  servingCertificateSignerAnnotation,
} from '../../../constructs/api/group.ts';
import { type KubeObject, type ObjectMeta, requireVersion } from '../../kube/object.ts';
import { groups } from '../../../constructs/cluster/workload-identities.ts';
import { isPending, longestRequest } from '../../pki/certificate-signing-request.ts';

/** Names, UIDs, times and parts of fingerprints have at most this many characters. */
const longestText = 253;
/** A refusal is quoted up to here. */
const longestMessage = 4096;

/**
 * What the operator keeps of an object that it has applied in a hosted cluster, whose API server may be the tenant's own: by what it
 * recognizes the object and its own fields, and by what it judges pods.
 * @param sent what was applied: an answer cannot name another object
 */
export function keptApplied(object: KubeObject, sent: KubeObject = object): KubeObject {
  const managedFields = decisiveManagedFields(object, fieldManager);
  const { apiVersion, kind } = sent;
  return { apiVersion, kind, metadata: { ...metadataOf(object, sent), managedFields }, ...stateOf(object) };
}

/** What the operator keeps of an object that only has to be there. */
export function keptIdentity(object: KubeObject): KubeObject {
  const { apiVersion, kind } = object;
  return { apiVersion, kind, metadata: metadataOf(object, object) };
}

function metadataOf({ metadata }: KubeObject, sent: KubeObject): ObjectMeta {
  const { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } = metadata;
  requireVersion(resourceVersion);
  return {
    name: short(sent.metadata.name) ?? '',
    namespace: short(sent.metadata.namespace),
    uid: short(uid),
    resourceVersion,
    generation: number(generation),
    creationTimestamp: short(creationTimestamp),
    deletionTimestamp: short(deletionTimestamp),
  };
}

/** Of Deployments and DaemonSets. */
const counts = [
  'observedGeneration',
  'availableReplicas',
  'currentNumberScheduled',
  'desiredNumberScheduled',
  'numberAvailable',
] as const;

function stateOf(object: KubeObject): Omit<DeploymentObject, keyof KubeObject> {
  const { spec, status }: DeploymentObject = object;
  if (!status) return {};
  const conditions = itemsOf(status.conditions)
    .filter(({ type }) => type === 'ReplicaFailure')
    .slice(0, 1)
    .map(({ type, status: value, message, lastTransitionTime }) => ({
      type,
      status: short(value) ?? '',
      message: short(message, longestMessage) ?? '',
      lastTransitionTime: short(lastTransitionTime) ?? '',
    }));
  const known = Object.fromEntries(counts.map((name) => [name, number((status as Record<string, unknown>)[name])]));
  const replicas = number(spec?.replicas);
  return { ...(replicas === undefined ? {} : { spec: { replicas } }), status: { ...known, conditions } };
}

function short(text: unknown, longest = longestText): string | undefined {
  return typeof text === 'string' ? text.slice(0, longest) : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/**
 * What the operator keeps of a request, which users of the hosted cluster can fill: the request itself only while it is
 * pending and not longer than that of a kubelet, else an empty text.
 */
export function keptRequest(object: KubeObject): CertificateSigningRequestObject {
  const given = object as CertificateSigningRequestObject;
  const { name, uid, resourceVersion, creationTimestamp } = given.metadata;
  const { signerName, groups: member, usages } = given.spec ?? {};
  const request = textOf(given.spec?.request) ?? '';
  const { conditions, certificate } = given.status ?? {};
  return {
    apiVersion: given.apiVersion,
    kind: given.kind,
    metadata: { name, uid, resourceVersion, creationTimestamp },
    spec: {
      request: isPending(given) && request.length <= longestRequest ? request : '',
      signerName,
      username: textOf(given.spec?.username),
      groups: itemsOf(member).filter((group) => group === groups.nodes),
      usages: itemsOf(usages),
    },
    status: {
      conditions: itemsOf(conditions).map(({ type, status }) => ({ type, status })),
      certificate: textOf(certificate),
    },
  };
}

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
