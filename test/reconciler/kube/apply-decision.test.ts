import { describe, expect, it } from 'vitest';
import {
  decideApply,
  decisiveManagedFields,
  isApplied,
  recordOf,
  renderedFingerprint,
  type ApplyDecision,
  type AppliedRecord,
} from '../../../reconciler/kube/apply-decision.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../reconciler/kube/object.ts';

const own = { manager: 'us', operation: 'Apply', fieldsV1: { 'f:data': { 'f:x': {} } } } as const;
const others = { manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:data': { 'f:x': {} } } } as const;

const live = (resourceVersion: string, managedFields: ManagedFieldsEntry[], uid = 'uid'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'a', name: 'b', uid, resourceVersion, managedFields },
});

/** With what the caches keep of managedFields. */
const asCached = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, managedFields: decisiveManagedFields(object, 'us') },
});

const rendered = renderedFingerprint(live('', []));
const record = recordOf(rendered, live('10', [own]), 'us');

it('of the managed fields of an object that somebody else has applied nothing is kept', () => {
  expect(decisiveManagedFields(live('1', [others]), 'us')).toEqual([]);
});

describe('decideApply', () => {
  it.each<[string, AppliedRecord | undefined, KubeObject | undefined, ApplyDecision]>([
    ['was never applied', undefined, live('10', [own]), { type: 'apply', because: 'new' }],
    [
      'is rendered differently',
      { ...record, rendered: 'other' },
      live('10', [own]),
      { type: 'apply', because: 'rendered differently' },
    ],
    ['is not in the cache', record, undefined, { type: 'apply', because: 'not in cache' }],
    ["is as in the server's answer", record, live('10', [own]), { type: 'skip', because: 'unchanged' }],
    [
      'got a status and fields of other managers',
      record,
      live('11', [others, own, { ...own, subresource: 'status', fieldsV1: {} }]),
      { type: 'skip', because: 'unchanged' },
    ],
    [
      'lost a field to another manager',
      record,
      live('11', [{ ...own, fieldsV1: {} }, others]),
      { type: 'apply', because: 'drifted' },
    ],
    ['lost all its fields to another manager', record, live('11', [others]), { type: 'apply', because: 'drifted' }],
    [
      'lost a field to another manager that applies',
      record,
      live('11', [{ ...own, manager: 'them' }]),
      { type: 'apply', because: 'drifted' },
    ],
    [
      'has another value of a field that has no other owner, which admission has changed',
      record,
      { ...live('11', [others, own]), data: { x: 'other' } } as KubeObject,
      { type: 'apply', because: 'drifted' },
    ],
    [
      'got a field without an owner, which admission has added',
      record,
      { ...live('11', [others, own]), data: { y: 'more' } } as KubeObject,
      { type: 'skip', because: 'unchanged' },
    ],
    ['was deleted and recreated', record, live('12', [own], 'other'), { type: 'apply', because: 'replaced' }],
    [
      "is older in the cache than the operator's write",
      record,
      live('9', []),
      { type: 'skip', because: 'cache is behind' },
    ],
    [
      'is older in the cache, with a version of fewer digits',
      record,
      live('9', [others]),
      { type: 'skip', because: 'cache is behind' },
    ],
  ])('for an object that %s', (_, known, cached, expected) => {
    const toSend = { fingerprint: rendered, object: () => live('', []) };
    expect(decideApply(toSend, known, cached, 'us')).toEqual(expected);
    expect(decideApply(toSend, known, cached && asCached(cached), 'us')).toEqual(expected);
  });
});

describe('after a start an object', () => {
  const sent: KubeObject & { readonly spec: object } = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'a', name: 'b', labels: { app: 'x' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'x' } },
      strategy: {},
      template: { containers: [{ name: 'one', args: ['--a', '--b'], ports: [{ containerPort: 1 }] }, { name: 'two' }] },
    },
  };
  const fields = (more: object = {}) => ({
    'f:metadata': { 'f:labels': { 'f:app': {} } },
    'f:spec': {
      'f:replicas': {},
      'f:selector': {},
      'f:strategy': {},
      'f:template': {
        'f:containers': {
          'k:{"name":"two"}': { '.': {}, 'f:name': {} },
          'k:{"name":"one"}': {
            '.': {},
            'f:args': {},
            'f:name': {},
            'f:ports': { 'k:{"containerPort":1,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
          },
        },
      },
      ...more,
    },
  });
  interface Changes {
    readonly fields?: object;
    readonly spec?: object;
    readonly args?: readonly string[];
    readonly labels?: object;
  }
  const stored = ({ fields: own = fields(), spec, args = ['--a', '--b'], labels }: Changes = {}): KubeObject & {
    readonly spec: object;
  } => ({
    ...sent,
    metadata: {
      ...sent.metadata,
      uid: 'uid',
      resourceVersion: '7',
      labels: { app: 'x', ...labels },
      managedFields: [others, { manager: 'us', operation: 'Apply', fieldsV1: own as Record<string, unknown> }],
    },
    spec: {
      ...sent.spec,
      paused: false,
      template: {
        containers: [
          { name: 'of another client' },
          { name: 'one', args, image: 'default', ports: [{ containerPort: 1, protocol: 'TCP' }] },
          { name: 'two', image: 'default' },
        ],
      },
      ...spec,
    },
  });
  const toSend = { fingerprint: 'any', object: () => sent };

  it.each<[string, KubeObject]>([
    ['is as it would be applied', stored()],
    ['has fields of others besides', stored({ labels: { more: 'y' } })],
  ])('is not applied that %s', (_, before) => {
    for (const one of [before, asCached(before)])
      expect(decideApply(toSend, undefined, one, 'us')).toEqual({ type: 'skip', because: 'applied before' });
  });

  it.each<[string, KubeObject]>([
    ['has another value', stored({ spec: { replicas: 1 } })],
    ['has lost a value', stored({ spec: { replicas: undefined } })],
    ['has another order of arguments', stored({ args: ['--b', '--a'] })],
    ['has a label more in a selector', stored({ spec: { selector: { matchLabels: { app: 'x', b: 'y' } } } })],
    ['has a field of the operator that is not rendered any more', stored({ fields: fields({ 'f:paused': {} }) })],
    ['has lost a field to another manager', stored({ fields: { 'f:spec': fields()['f:spec'] } })],
    ['was applied by nobody', { ...stored(), metadata: { ...sent.metadata, resourceVersion: '7' } }],
  ])('is applied that %s', (_, before) => {
    for (const one of [before, asCached(before)])
      expect(decideApply(toSend, undefined, one, 'us')).toEqual({ type: 'apply', because: 'new' });
  });
});

describe('isApplied', () => {
  it.each<[string, ManagedFieldsEntry[], boolean]>([
    ['an object that the operator applied', [others, own], true],
    ["an object that only has the operator's labels", [others], false],
    ['an object whose status the operator applied', [{ ...own, subresource: 'status' }], false],
    ['an object that the operator updated but never applied', [{ ...own, operation: 'Update' }], false],
  ])('recognizes %s', (_, managedFields, expected) => {
    expect(isApplied(live('1', managedFields), 'us')).toBe(expected);
    expect(isApplied(asCached(live('1', managedFields)), 'us')).toBe(expected);
  });

  it('does not recognize an object without managed fields', () => {
    expect(isApplied({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } }, 'us')).toBe(false);
  });
});

describe('the record of an applied object', () => {
  it('is short, equal for equal objects, different for each difference, and contains nothing of the object', () => {
    const secretWith = (key: string) => ({ ...live('10', [own]), data: { key } });
    const secret = secretWith('c2VjcmV0');
    const fingerprint = renderedFingerprint(secret);
    expect(fingerprint).toMatch(/^[\w-]{22}$/);
    expect(renderedFingerprint(secretWith('c2VjcmV0'))).toBe(fingerprint);
    expect(renderedFingerprint(secretWith('other'))).not.toBe(fingerprint);
    expect(JSON.stringify(recordOf(fingerprint, secret, 'us'))).not.toContain('c2VjcmV0');
  });

  it('has the managed fields of the operator, uid and version', () => {
    expect(recordOf(rendered, live('10', [others, own]), 'us')).toEqual(record);
    expect(record).toMatchObject({ rendered, uid: 'uid', resourceVersion: '10' });
    expect(recordOf(rendered, live('10', [others]), 'us').owned).not.toBe(record.owned);
  });
});
