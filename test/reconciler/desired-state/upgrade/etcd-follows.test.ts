import { expect, it } from 'vitest';
import { HostedControlPlaneSpec } from '../../../../constructs/api/hosted-control-plane.ts';
import type { HostedControlPlaneStatus } from '../../../../constructs/api/status.ts';
import { awaitedKubernetes } from '../../../../reconciler/desired-state/upgrade/etcd-version.ts';

const lastTransitionTime = '2026-11-23T10:00:00Z';
const condition = (type: string, status: 'True' | 'False' | 'Unknown') => ({
  type,
  status,
  reason: 'Any',
  message: '',
  lastTransitionTime,
});
const finished = ['ControllerManagerReady', 'SchedulerReady', 'WorkloadCoreDNSReady', 'EtcdClusterReady'].map((type) =>
  condition(type, 'True'),
);

it.each<[string, { etcd?: object; status?: HostedControlPlaneStatus }, RegExp | undefined]>([
  ['waits before the first API server runs', {}, /it waits for API servers v1\.37\.1$/],
  [
    'waits for the oldest API server',
    { status: { version: 'v1.36.4', conditions: finished } },
    /API servers v1\.37\.1$/,
  ],
  ['does not wait when all is done', { status: { version: 'v1.37.1', conditions: finished } }, undefined],
  ['does not wait for a patch release', { status: { version: 'v1.37.0', conditions: finished } }, undefined],
  ...(['False', 'Unknown'] as const).map((status): [string, { status: HostedControlPlaneStatus }, RegExp] => [
    `waits for a component that is ${status}`,
    { status: { version: 'v1.37.1', conditions: [...finished, condition('WorkloadKubeProxyReady', status)] } },
    /only a restore takes it back: it waits for the condition WorkloadKubeProxyReady$/,
  ]),
  [
    'does not wait for another condition',
    { status: { version: 'v1.37.1', conditions: [...finished, condition('CARotationReady', 'False')] } },
    undefined,
  ],
  ['of the spec does not wait', { etcd: { version: '3.7.0' }, status: { version: 'v1.36.4' } }, undefined],
  ["of the user's own image does not wait", { etcd: { image: { tag: '3.7.0-own' } } }, undefined],
])('a change of etcd %s', (_, { etcd, status }, expected) => {
  const spec = HostedControlPlaneSpec.parse({ version: 'v1.37.1', exposure: { loadBalancer: {} }, etcd });
  const awaited = awaitedKubernetes('3.6.8 to 3.7.0', { spec, status });
  expect(awaited ?? 'nothing').toMatch(expected ?? /^nothing$/);
});
