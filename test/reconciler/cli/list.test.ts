import { expect, it } from 'vitest';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import type { StoredControlPlane } from '../../../reconciler/cli/control-plane-state.ts';
import { describeFleet, entryOf } from '../../../reconciler/cli/list.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const at = (hoursAgo: number) => new Date(now - hoursAgo * 3_600_000).toISOString();

const condition = (type: string, status: 'True' | 'False', reason: string, hoursAgo = 1) => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: at(hoursAgo),
});

const controlPlane = (cluster: string, status?: HostedControlPlaneStatus, version = 'v1.37.1'): StoredControlPlane => ({
  apiVersion: HostedControlPlane.apiVersion,
  kind: HostedControlPlane.kind,
  metadata: { namespace: 'team', name: `${cluster}-x7k2p`, labels: { [clusterNameLabel]: cluster } },
  spec: { version },
  ...(status ? { status } : {}),
});

const member = (name: string, role: 'Leader' | 'Follower' | 'Lost') => ({ name, role });

const works: HostedControlPlaneStatus = {
  version: 'v1.37.1',
  releaseRevision: 3,
  replicas: 2,
  readyReplicas: 2,
  etcd: { members: [member('a', 'Leader'), member('b', 'Follower'), member('c', 'Follower')] },
  certificatesNotAfter: at(-24 * 300),
  etcdLastBackupTime: at(3),
  conditions: [condition('Ready', 'True', 'Ready'), condition('Available', 'True', 'Available')],
};

const lost: HostedControlPlaneStatus = {
  ...works,
  readyReplicas: 0,
  etcd: { members: [member('a', 'Follower'), member('b', 'Lost'), member('c', 'Lost')] },
  conditions: [
    condition('Ready', 'False', 'QuorumLost', 5),
    condition('Available', 'False', 'NotAvailable', 5),
    condition('EtcdClusterReady', 'False', 'QuorumLost', 5),
    condition('SchedulerReady', 'False', 'WaitingForOtherPhases', 5),
  ],
};

it('a fleet is a table in which those that do not serve come first, with what blocks them', () => {
  const fleet = [
    controlPlane('works', works),
    controlPlane('new'),
    controlPlane('lost', lost),
    controlPlane('rises', { ...works, version: 'v1.36.4' }),
  ];
  expect(describeFleet(fleet.map(entryOf), now, 'team')).toEqual([
    'CLUSTER   VERSION              RELEASE   STATE        FOR   API SERVERS   ETCD   CERTIFICATES   LAST BACKUP',
    'lost      v1.37.1              3         QuorumLost   5h    0/2           1/3    300d           3h ago',
    'new       to v1.37.1           -         Unknown            0/0           -      -              none',
    'rises     v1.36.4 to v1.37.1   3         Ready              2/2           3/3    300d           3h ago',
    'works     v1.37.1              3         Ready              2/2           3/3    300d           3h ago',
    '',
    '4 control planes, 2 not Ready',
  ]);
});

it('over all namespaces each cluster has its namespace before its name', () => {
  const [, row] = describeFleet([entryOf(controlPlane('works', works))], now, undefined);
  expect(row).toMatch(/^team\/works /);
});

it('an expired certificate is said to be', () => {
  const [, row] = describeFleet([entryOf(controlPlane('a', { ...works, certificatesNotAfter: at(2) }))], now, 'team');
  expect(row).toContain('expired 2h ago');
});

it('nothing is said to be nothing', () => {
  expect(describeFleet([], now, 'team')).toEqual(['no control plane exists in namespace team']);
});

it('an entry names the condition that blocks, and not those that wait for it', () => {
  expect(entryOf(controlPlane('lost', lost)).blocker).toEqual({
    type: 'EtcdClusterReady',
    reason: 'QuorumLost',
    since: at(5),
  });
  expect(entryOf(controlPlane('works', works)).blocker).toBeNull();
});
