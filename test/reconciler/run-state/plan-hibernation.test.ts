import { expect, it } from 'vitest';
import {
  type HibernationDecision,
  type HibernationInput,
  planHibernation,
} from '../../../reconciler/run-state/plan-hibernation.ts';

const running = { wanted: ['c1-api-server'], pods: ['c1-api-server-x'] };
const stopped = { wanted: [], pods: [] };
const members = { isWanted: true, pods: ['c1-etcd-0'] };

function observed(changes: Partial<HibernationInput>): HibernationInput {
  return {
    isDue: true,
    machines: 0,
    servers: running,
    etcd: members,
    awaitsBackup: true,
    endangered: [],
    ...changes,
  };
}

it.each<[string, Partial<HibernationInput>, HibernationDecision]>([
  ['runs without a request', { isDue: false }, { kind: 'awake' }],
  ['wakes up without a request', { isDue: false, servers: stopped }, { kind: 'awake' }],
  ['runs on while Machines exist', { machines: 2 }, { kind: 'refuse', machines: 2 }],
  ['stops its API servers first', {}, { kind: 'stopServers', workloads: ['c1-api-server'], pods: ['c1-api-server-x'] }],
  [
    'waits until their last pod is gone',
    { servers: { wanted: [], pods: ['c1-api-server-x'] } },
    { kind: 'stopServers', workloads: [], pods: ['c1-api-server-x'] },
  ],
  [
    'runs on while it would end volumes that are being deleted',
    { endangered: ['data-0'] },
    { kind: 'keepVolumes', claims: ['data-0'], isAwake: true },
  ],
  [
    'is backed up also while its volumes are being deleted',
    { servers: stopped, endangered: ['data-0'] },
    { kind: 'awaitBackup' },
  ],
  [
    'keeps etcd when its volumes were deleted after the stop of its API servers',
    { servers: stopped, awaitsBackup: false, endangered: ['data-0'] },
    { kind: 'keepVolumes', claims: ['data-0'], isAwake: false },
  ],
  ['goes on when Machines come later', { servers: stopped, machines: 2 }, { kind: 'awaitBackup' }],
  ['keeps etcd for a backup', { servers: stopped }, { kind: 'awaitBackup' }],
  ['stops etcd then', { servers: stopped, awaitsBackup: false }, { kind: 'stopMembers', pods: ['c1-etcd-0'] }],
  [
    'waits until the last member is gone',
    { servers: stopped, etcd: { isWanted: false, pods: ['c1-etcd-0'] } },
    { kind: 'stopMembers', pods: ['c1-etcd-0'] },
  ],
  [
    'is not woken for a backup that etcd cannot give any more',
    { servers: stopped, etcd: { isWanted: false, pods: [] } },
    { kind: 'asleep' },
  ],
])('a control plane that is to hibernate %s', (_, changes, decision) => {
  expect(planHibernation(observed(changes))).toEqual(decision);
});
