import { expect, it } from 'vitest';
import { ownersOf } from '../../../../reconciler/cli/diff/field-owners.ts';

const containers = {
  'k:{"name":"etcd"}': { '.': {}, 'f:name': {}, 'f:image': {}, 'f:args': {} },
};
const object = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'd',
    managedFields: [
      {
        manager: 'operator',
        fieldsV1: { 'f:spec': { 'f:replicas': {}, 'f:template': { 'f:spec': { 'f:containers': containers } } } },
      },
      { manager: 'kubectl-scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
      { manager: 'kubelet', subresource: 'status', fieldsV1: { 'f:status': {} } },
      {
        manager: 'annotator',
        fieldsV1: {
          'f:metadata': { 'f:annotations': { '.': {}, 'f:example.com/a.b': {} }, 'f:finalizers': { 'v:"x"': {} } },
        },
      },
      { manager: 'ports', fieldsV1: { 'f:spec': { 'f:ports': { 'k:{"port":80}': { 'f:targetPort': {} } } } } },
    ],
  },
};

it.each([
  ['spec.replicas', ['kubectl-scale', 'operator']],
  ['spec.template.spec.containers[etcd].image', ['operator']],
  ['spec.template.spec.containers[etcd].args[]', ['operator']],
  ['spec.template.spec.containers[other].image', []],
  ['spec.template.spec', ['operator']],
  ['metadata.annotations.example.com/a.b', ['annotator']],
  ['metadata.finalizers[]', ['annotator']],
  ['spec.ports[0].targetPort', ['ports']],
  ['spec.replicasOfOthers', []],
  ['status', []],
])('%s is held by %j', (path, owners) => {
  expect(ownersOf(object, path)).toEqual(owners);
});
