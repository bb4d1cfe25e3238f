import type { DeploymentObject } from '../../../imports/kubernetes.ts';
import { itemsOf } from '../../../constructs/cluster/foreign-values.ts';
import { decisiveManagedFields } from '../../kube/apply-decision.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import { type KubeObject, type ObjectMeta, requireVersion } from '../../kube/object.ts';

/** Names, UIDs and times have at most this many characters. */
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
