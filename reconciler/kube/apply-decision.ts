import { createHash } from 'node:crypto';
import { isOlder, type KubeObject, type ManagedFieldsEntry } from './object.ts';
import { appliedLines, ownedLines, ownedValues } from './owned-values.ts';

/** Record of an applied object: enough to recognize it, without its content. */
export interface AppliedRecord {
  /** Fingerprint of the object that was sent. */
  readonly rendered: string;
  /** Fingerprint of the operator's fields in the managedFields of the response, and of their values. */
  readonly owned: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Whether an object has to be applied, and the reason. */
export type ApplyDecision =
  | {
      readonly type: 'apply';
      readonly because: 'new' | 'rendered differently' | 'not in cache' | 'replaced' | 'drifted';
    }
  | { readonly type: 'skip'; readonly because: 'unchanged' | 'cache is behind' | 'applied before' };

/**
 * Decides whether the live object provably matches the rendered one. The server removes a field from the operator's
 * managedFields entry when another client changes it, but not when admission changes it in a write of another client. An entry and
 * values equal to those of the last response therefore prove that no field of the operator has changed; the status and the fields of
 * others do not matter. What admission makes of the operator's own write is in that response.
 * Without a record, after a start of the operator, the operator's entry has to name all fields of the rendered object and no others, and
 * the object has to have its values.
 * @param rendered the object to send, and its fingerprint
 * @param live the object in the cache, possibly older than the last write
 */
export function decideApply(
  rendered: { readonly fingerprint: string; readonly object: () => KubeObject },
  record: AppliedRecord | undefined,
  live: KubeObject | undefined,
  fieldManager: string,
): ApplyDecision {
  if (!record) {
    const applied = live && appliedFingerprint(live, fieldManager);
    return applied !== undefined && applied === linesFingerprint(appliedLines(rendered.object()))
      ? { type: 'skip', because: 'applied before' }
      : { type: 'apply', because: 'new' };
  }
  if (record.rendered !== rendered.fingerprint) return { type: 'apply', because: 'rendered differently' };
  if (!live) return { type: 'apply', because: 'not in cache' };
  const { uid, resourceVersion = '0' } = live.metadata;
  if (resourceVersion === record.resourceVersion) return { type: 'skip', because: 'unchanged' };
  // The watch reports changes after the write. Until then the response is the newest state.
  if (isOlder(resourceVersion, record.resourceVersion)) return { type: 'skip', because: 'cache is behind' };
  if (uid !== record.uid) return { type: 'apply', because: 'replaced' };
  if (ownedFingerprint(live, fieldManager) !== record.owned) return { type: 'apply', because: 'drifted' };
  return { type: 'skip', because: 'unchanged' };
}

/** The record of an object that the server has returned. */
export function recordOf(rendered: string, answer: KubeObject, fieldManager: string): AppliedRecord {
  const { uid = '', resourceVersion = '0' } = answer.metadata;
  return { rendered, owned: ownedFingerprint(answer, fieldManager), uid, resourceVersion };
}

/** Fingerprint of an object to send. */
export function renderedFingerprint(object: KubeObject): string {
  return fingerprint(object);
}

/** Whether the operator has applied this object and may delete it. */
export function isApplied(object: KubeObject, fieldManager: string): boolean {
  return ownEntry(object, fieldManager) !== undefined;
}

/** What these decisions need of managedFields: whether the operator has applied the object, and a fingerprint of its fields. */
export function decisiveManagedFields(object: KubeObject, fieldManager: string): readonly ManagedFieldsEntry[] {
  const entry = ownEntry(object, fieldManager);
  if (!entry) return [];
  const { manager, operation } = entry;
  const applied = appliedFingerprint(object, fieldManager);
  return [{ manager, operation, fingerprint: ownedFingerprint(object, fieldManager), applied }];
}

/** Undefined when the operator has applied none of its fields. */
function appliedFingerprint(object: KubeObject, fieldManager: string): string | undefined {
  const entry = ownEntry(object, fieldManager);
  if (entry?.applied !== undefined || !entry?.fieldsV1) return entry?.applied;
  return linesFingerprint(ownedLines(entry.fieldsV1, object));
}

function linesFingerprint(lines: readonly string[]): string {
  return fingerprint(lines.toSorted());
}

function ownedFingerprint(object: KubeObject, fieldManager: string): string {
  const entry = ownEntry(object, fieldManager);
  if (entry?.fingerprint !== undefined) return entry.fingerprint;
  const fields = entry?.fieldsV1 ?? {};
  return fingerprint([fields, ownedValues(fields, object)]);
}

function ownEntry({ metadata }: KubeObject, fieldManager: string): ManagedFieldsEntry | undefined {
  return metadata.managedFields?.find(
    ({ manager, operation, subresource }) => manager === fieldManager && operation === 'Apply' && !subresource,
  );
}

/** 128 bits. The input includes rendered Secrets, of which nothing may stay in memory. */
function fingerprint(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);
}
