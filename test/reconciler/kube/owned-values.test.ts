import { expect, it } from 'vitest';
import { ownedValues } from '../../../reconciler/kube/owned-values.ts';

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
