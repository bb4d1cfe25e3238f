import { expect, it } from 'vitest';
import { appliedLines, ownedLines, ownedValues } from '../../../reconciler/kube/owned-values.ts';

const object = {
  metadata: { finalizers: ['a', 'b'], annotations: { note: 'of a person' } },
  spec: {
    replicas: 2,
    selector: { app: 'x' },
    containers: [
      { name: 'sidecar', image: 's' },
      { name: 'main', image: 'm', ports: [{ containerPort: 1, protocol: 'TCP' }] },
    ],
    order: ['one', 'two'],
  },
};

it.each<[string, object, unknown]>([
  ['a field', { 'f:spec': { 'f:replicas': {} } }, [[2]]],
  ['a field that is gone', { 'f:spec': { 'f:paused': {} } }, [[undefined]]],
  ['a whole map', { 'f:spec': { 'f:selector': {} } }, [[{ app: 'x' }]]],
  ['a whole list', { 'f:spec': { 'f:order': {} } }, [[['one', 'two']]]],
  [
    'an entry by its name',
    { 'f:spec': { 'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:image': {} } } } },
    [[[['m']]]],
  ],
  [
    'an entry by several keys',
    {
      'f:spec': {
        'f:containers': {
          'k:{"name":"main"}': { 'f:ports': { 'k:{"containerPort":1,"protocol":"TCP"}': { '.': {} } } },
        },
      },
    },
    [[[[[true]]]]],
  ],
  [
    'an entry that is gone',
    { 'f:spec': { 'f:containers': { 'k:{"name":"other"}': { '.': {}, 'f:image': {} } } } },
    [[[[undefined]]]],
  ],
  ['members of a set', { 'f:metadata': { 'f:finalizers': { 'v:"b"': {}, 'v:"c"': {} } } }, [[['b', undefined]]]],
  ['an entry by its position', { 'f:spec': { 'f:order': { 'i:1': {} } } }, [[['two']]]],
  ['a map without what is in it', { 'f:metadata': { 'f:annotations': { '.': {} } } }, [[true]]],
])('of the fields of a manager it has the values, for %s', (_, fields, expected) => {
  expect(ownedValues(fields as Readonly<Record<string, unknown>>, object)).toEqual(expected);
});

it('has the values of an object as they were applied, with what the API server adds to a list that has one owner', () => {
  const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } };
  const added = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } };
  const stored = { ...added, ...claim, spec: { ...claim.spec, volumeMode: 'Filesystem' } };
  const fields = { 'f:spec': { 'f:volumeClaimTemplates': {} } };
  const metadata = { name: 'a' };
  const sent = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata, spec: { volumeClaimTemplates: [claim] } };
  const lines = appliedLines(sent);
  expect(lines).toHaveLength(2);
  expect(ownedLines(fields, { spec: { volumeClaimTemplates: [stored] } })).toEqual(lines);
  const larger = { ...stored, spec: { ...stored.spec, volumeMode: 'Block' } };
  expect(ownedLines(fields, { spec: { volumeClaimTemplates: [larger] } })).not.toEqual(lines);
});
