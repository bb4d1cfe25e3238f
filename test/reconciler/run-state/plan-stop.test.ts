import { expect, it } from 'vitest';
import { planStop, type StopInput, type StopDecision } from '../../../reconciler/run-state/plan-stop.ts';

const serving = { wanted: ['c1-api-server'], pods: ['c1-api-server-x'] };
const ending = { wanted: [], pods: ['c1-api-server-x'] };
const stopped = { wanted: [], pods: [] };
const members = { isWanted: true, pods: ['c1-etcd-0'] };
const membersEnding = { isWanted: false, pods: ['c1-etcd-0'] };
const none = { isWanted: false, pods: [] };
const first: StopDecision = { kind: 'stopServers', workloads: ['c1-api-server'], pods: ['c1-api-server-x'] };
const all: Pick<StopInput, 'level' | 'awaitsBackup'> = { level: 'AllStopped', awaitsBackup: false };
const servers: typeof all = { level: 'ServersStopped', awaitsBackup: false };

it.each<[string, StopInput, StopDecision]>([
  ['the API servers, before etcd', { ...all, servers: serving, etcd: members }, first],
  [
    'the last of their pods',
    { ...all, servers: ending, etcd: members },
    { kind: 'stopServers', workloads: [], pods: ['c1-api-server-x'] },
  ],
  [
    'a backup, once nothing writes any more',
    { ...all, awaitsBackup: true, servers: stopped, etcd: members },
    { kind: 'awaitBackup' },
  ],
  [
    'a backup, also where etcd stays',
    { ...servers, awaitsBackup: true, servers: stopped, etcd: members },
    { kind: 'awaitBackup' },
  ],
  ['its members then', { ...all, servers: stopped, etcd: members }, { kind: 'stopMembers', pods: ['c1-etcd-0'] }],
  [
    'the last of them, and no backup that they cannot give any more',
    { ...all, awaitsBackup: true, servers: stopped, etcd: membersEnding },
    { kind: 'stopMembers', pods: ['c1-etcd-0'] },
  ],
  ['nothing when nothing runs', { ...all, awaitsBackup: true, servers: stopped, etcd: none }, { kind: 'stopped' }],
  ['nothing when etcd alone runs, and stays', { ...servers, servers: stopped, etcd: members }, { kind: 'stopped' }],
])('a stop is next about %s', (_, input, step) => {
  expect(planStop(input)).toEqual(step);
});
