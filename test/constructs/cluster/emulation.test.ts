import { expect, it } from 'vitest';
import { canEmulate } from '../../../constructs/cluster/emulation.ts';
import { apiServerFlags } from '../../../constructs/control-plane/api-server/flags.ts';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';

const before = clusterOf({ spec: { version: 'v1.36.4' } });
const linesOf = (cluster: typeof before) =>
  JSON.stringify(renderControlPlane(cluster, knownFacts), undefined, 1)
    .split('\n')
    .map((line) => line.trim());

it('binaries of the next minor differ in their image and one argument, and API servers say so', () => {
  const without = linesOf(before);
  const added = linesOf({ ...before, binaries: 'v1.37.1' }).filter((line) => !without.includes(line));
  expect(added.map((line) => line.replace(/,$/, ''))).toEqual([
    '"controlplane.cluster.x-k8s.io/binaries": "v1.37.1"',
    '"--emulated-version=1.36"',
    '"image": "registry.k8s.io/kube-apiserver:v1.37.1"',
    '"--emulated-version=1.36"',
    '"image": "registry.k8s.io/kube-controller-manager:v1.37.1"',
    '"--emulated-version=1.36"',
    '"image": "registry.k8s.io/kube-scheduler:v1.37.1"',
  ]);
});

it.each([
  ['v1.35.8', 'v1.36.4', 'Policy', true],
  ['v1.35.8', 'v1.36.4', 'Proxy', false],
  ['v1.36.4', 'v1.37.1', 'Policy', false],
  ['v1.34.2', 'v1.35.8', 'Policy', false],
])(
  '%s emulated by %s with in-cluster access %s serves later versions of its APIs: %s',
  (version, binaries, access, is) => {
    const cluster = { ...clusterOf({ spec: { version, inClusterAccess: access } }), binaries };
    const names = apiServerFlags(cluster, knownFacts.endpoint).map(([name]) => name);
    expect(names.includes('emulation-forward-compatible')).toBe(is);
  },
);

it.each([
  ['the minor before', 'v1.36.4', 'v1.35.8', {}, true],
  ['two minors before', 'v1.36.4', 'v1.34.2', {}, false],
  ['its own minor', 'v1.36.4', 'v1.36.1', {}, false],
  ['the minor before, which nobody has tried', 'v1.34.2', 'v1.33.6', {}, false],
  ['one while the user emulates', 'v1.36.4', 'v1.35.8', { apiServer: { args: { 'emulated-version': '1.35' } } }, false],
])('binaries emulate %s', (_, binaries, emulated, deployment, expected) => {
  expect(canEmulate(binaries, emulated, clusterOf({ spec: { deployment } }).spec)).toBe(expected);
});
