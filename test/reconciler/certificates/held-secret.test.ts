import type { SecretObject } from '../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import { copyOfAnnotation, discardedAnnotation, keyFinalizer } from '../../../constructs/api/group.ts';
import { type HeldSecret, type HoldStep, planHold } from '../../../reconciler/certificates/held-secret.ts';

const uid = 'uid-of-the-object';
const ours = { apiVersion: 'x', kind: 'HostedControlPlane', name: 'c1', uid, controller: true };

function secret(metadata: Partial<SecretObject['metadata']> = {}, key = 'a2V5'): SecretObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'c1-ca', ...metadata }, data: { 'tls.key': key } };
}

const held = { ownerReferences: [ours], finalizers: [keyFinalizer] };
const ending = { deletionTimestamp: '2026-11-28T00:00:00Z' };
const copy = secret({ name: 'c1-ca-copy', annotations: { [copyOfAnnotation]: uid } });
const otherCopy = { ...copy, data: { 'tls.key': 'b3RoZXI=' } };

const cases: readonly [what: string, step: HoldStep, Omit<HeldSecret, 'name'>][] = [
  ['is missing', 'none', { original: undefined, copy: undefined }],
  ['is held', 'none', { original: secret(held), copy: undefined }],
  ["is a user's", 'none', { original: secret(), copy: undefined }],
  [
    "is a user's, and is being deleted",
    'none',
    { original: secret({ ...ending, finalizers: ['x'] }), copy: undefined },
  ],
  ['is one of an earlier release', 'protect', { original: secret({ ownerReferences: [ours] }), copy: undefined }],
  [
    'the operator has released to delete it',
    'none',
    { original: secret({ ownerReferences: [ours], annotations: { [discardedAnnotation]: 'true' } }), copy: undefined },
  ],
  ['is being deleted', 'replace', { original: secret({ ...held, ...ending }), copy: undefined }],
  [
    'is being deleted, held by another finalizer only',
    'replace',
    { original: secret({ ownerReferences: [ours], finalizers: ['x'], ...ending }), copy: undefined },
  ],
  ['is being deleted and copied', 'replace', { original: secret({ ...held, ...ending }), copy }],
  ['is gone and copied', 'replace', { original: undefined, copy }],
  ['is in its place again', 'tidy', { original: secret(held), copy }],
  ['has changed since it was copied', 'copyAgain', { original: secret({ ...held, ...ending }), copy: otherCopy }],
  ['was written by another client since it was copied', 'differs', { original: secret(held), copy: otherCopy }],
];

describe('a Secret that cannot be made again', () => {
  it.each(cases)('that %s: %s', (_, step, found) => {
    expect(planHold({ name: 'c1-ca', ...found }, uid)).toBe(step);
  });
});
