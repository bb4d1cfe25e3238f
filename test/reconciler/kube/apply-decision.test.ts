import { describe, expect, it } from 'vitest';
import {
  decideApply,
  isApplied,
  recordOf,
  renderedFingerprint,
  type ApplyDecision,
  type AppliedRecord,
} from '../../../reconciler/kube/apply-decision.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../reconciler/kube/object.ts';

const ours = { manager: 'us', operation: 'Apply', fieldsV1: { 'f:data': { 'f:x': {} } } } as const;
const foreign = { manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:data': { 'f:x': {} } } } as const;

const live = (resourceVersion: string, managedFields: ManagedFieldsEntry[], uid = 'uid'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'a', name: 'b', uid, resourceVersion, managedFields },
});

const rendered = renderedFingerprint(live('', []));
const record = recordOf(rendered, live('10', [ours]), 'us');

describe('decideApply', () => {
  it.each<[string, AppliedRecord | undefined, KubeObject | undefined, ApplyDecision]>([
    ['was never applied', undefined, live('10', [ours]), { type: 'apply', because: 'new' }],
    [
      'is rendered differently now',
      { ...record, rendered: 'other' },
      live('10', [ours]),
      { type: 'apply', because: 'rendered differently' },
    ],
    ['is not in the cache', record, undefined, { type: 'apply', because: 'not in cache' }],
    ['is as the server answered', record, live('10', [ours]), { type: 'skip', because: 'unchanged' }],
    [
      'got a status and fields of others',
      record,
      live('11', [foreign, ours, { ...ours, subresource: 'status', fieldsV1: {} }]),
      { type: 'skip', because: 'unchanged' },
    ],
    [
      'lost a field to somebody else',
      record,
      live('11', [{ ...ours, fieldsV1: {} }, foreign]),
      { type: 'apply', because: 'drifted' },
    ],
    ['lost all its fields to somebody else', record, live('11', [foreign]), { type: 'apply', because: 'drifted' }],
    [
      'lost a field to somebody who applies under a name of his own',
      record,
      live('11', [{ ...ours, manager: 'them' }]),
      { type: 'apply', because: 'drifted' },
    ],
    ['was deleted and made anew', record, live('12', [ours], 'other'), { type: 'apply', because: 'replaced' }],
    ['is in the cache as it was before our write', record, live('9', []), { type: 'skip', because: 'cache is behind' }],
    ['passed a power of ten', record, live('9', [foreign]), { type: 'skip', because: 'cache is behind' }],
  ])('for an object that %s', (_, known, cached, expected) => {
    expect(decideApply(rendered, known, cached, 'us')).toEqual(expected);
  });
});

describe('isApplied', () => {
  it.each<[string, ManagedFieldsEntry[], boolean]>([
    ['an object we applied', [foreign, ours], true],
    ['an object that only has our labels', [foreign], false],
    ['an object whose status we applied', [{ ...ours, subresource: 'status' }], false],
    ['an object we updated but never applied', [{ ...ours, operation: 'Update' }], false],
  ])('judges %s', (_, managedFields, expected) => {
    expect(isApplied(live('1', managedFields), 'us')).toBe(expected);
  });

  it('judges an object of which the server notes nobody', () => {
    expect(isApplied({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } }, 'us')).toBe(false);
  });
});

describe('what is remembered of an object', () => {
  it('is short, the same for the same, another for each difference, and nothing of its content', () => {
    const secretWith = (key: string) => ({ ...live('10', [ours]), data: { key } });
    const secret = secretWith('c2VjcmV0');
    const fingerprint = renderedFingerprint(secret);
    expect(fingerprint).toMatch(/^[\w-]{22}$/);
    expect(renderedFingerprint(secretWith('c2VjcmV0'))).toBe(fingerprint);
    expect(renderedFingerprint(secretWith('other'))).not.toBe(fingerprint);
    expect(JSON.stringify(recordOf(fingerprint, secret, 'us'))).not.toContain('c2VjcmV0');
  });

  it('are the fields the server has noted as ours, uid and version', () => {
    expect(recordOf(rendered, live('10', [foreign, ours]), 'us')).toEqual(record);
    expect(record).toMatchObject({ rendered, uid: 'uid', resourceVersion: '10' });
    expect(recordOf(rendered, live('10', [foreign]), 'us').owned).not.toBe(record.owned);
  });
});
