import { createHash } from 'node:crypto';
import { isOlder, type KubeObject } from './object.ts';

/** What is remembered of an object after it was applied: enough to know it again, and no content of it. */
export interface AppliedRecord {
  /** Fingerprint of what we sent. */
  readonly rendered: string;
  /** Fingerprint of the fields the server noted as ours in its answer. */
  readonly owned: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Whether an object has to be applied, and why or why not. */
export type ApplyDecision =
  | {
      readonly type: 'apply';
      readonly because: 'new' | 'rendered differently' | 'not in cache' | 'replaced' | 'drifted';
    }
  | { readonly type: 'skip'; readonly because: 'unchanged' | 'cache is behind' };

/**
 * Whether what is rendered is provably there already. The server takes a field out of our managedFields entry as soon as
 * anybody else changes it, so an entry equal to the one we were answered with proves that nothing of ours was touched;
 * status and the fields of others do not matter to it.
 * @param rendered fingerprint of what would be sent
 * @param live the object as the cache has it, possibly older than what we wrote last
 */
export function decideApply(
  rendered: string,
  record: AppliedRecord | undefined,
  live: KubeObject | undefined,
  fieldManager: string,
): ApplyDecision {
  if (!record) return { type: 'apply', because: 'new' };
  if (record.rendered !== rendered) return { type: 'apply', because: 'rendered differently' };
  if (!live) return { type: 'apply', because: 'not in cache' };
  const { uid, resourceVersion = '0' } = live.metadata;
  if (resourceVersion === record.resourceVersion) return { type: 'skip', because: 'unchanged' };
  // Whatever happened after our write the cache will learn and tell; until then our own answer is the newest there is.
  if (isOlder(resourceVersion, record.resourceVersion)) return { type: 'skip', because: 'cache is behind' };
  if (uid !== record.uid) return { type: 'apply', because: 'replaced' };
  if (ownedFingerprint(live, fieldManager) !== record.owned) return { type: 'apply', because: 'drifted' };
  return { type: 'skip', because: 'unchanged' };
}

/** What to remember of an object the server has answered with. */
export function recordOf(rendered: string, answer: KubeObject, fieldManager: string): AppliedRecord {
  const { uid = '', resourceVersion = '0' } = answer.metadata;
  return { rendered, owned: ownedFingerprint(answer, fieldManager), uid, resourceVersion };
}

/** Fingerprint of an object as it would be sent. */
export function renderedFingerprint(object: KubeObject): string {
  return fingerprint(object);
}

/** Whether this object was applied by us, so that it is ours to delete. */
export function isApplied(object: KubeObject, fieldManager: string): boolean {
  return ownedFields(object, fieldManager) !== undefined;
}

function ownedFingerprint(object: KubeObject, fieldManager: string): string {
  return fingerprint(ownedFields(object, fieldManager) ?? {});
}

function ownedFields(object: KubeObject, fieldManager: string): object | undefined {
  return object.metadata.managedFields?.find(
    ({ manager, operation, subresource }) => manager === fieldManager && operation === 'Apply' && !subresource,
  )?.fieldsV1;
}

/** 128 bits: rendered Secrets pass here, and nothing of them may stay in memory. */
function fingerprint(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
}
