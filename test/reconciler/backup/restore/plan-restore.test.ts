import { describe, expect, it } from 'vitest';
import {
  planRestore,
  type MemberRestore,
  type RestoreInput,
  type RestorePod,
} from '../../../../reconciler/backup/restore/plan-restore.ts';

const request = '0123456789abcdef';
const run = 'run';
const begun = { request, isComplete: false, earlier: [] };
const complete = { request, isComplete: true, earlier: [] };
const another = (isComplete: boolean, earlier: string[] = []) => ({ request: 'other', isComplete, earlier });
const stopped = { wanted: [], pods: [], isAvailable: false };
const noMembers = { isWanted: false, pods: [] };

function pod(changes: Partial<RestorePod> = {}): RestorePod {
  return { run, isGoing: false, state: 'working', ...changes };
}

function member(ordinal: number, changes: Partial<MemberRestore> = {}): MemberRestore {
  return { ordinal, claim: { isGoing: false, restored: [] }, pod: undefined, ...changes };
}

const restored = (ordinal: number, by = request) => member(ordinal, { claim: { isGoing: false, restored: [by] } });

function observed(changes: Partial<RestoreInput> = {}): RestoreInput {
  return {
    request,
    record: begun,
    run,
    isPrepared: true,
    servers: { wanted: ['c1-api-server'], pods: ['c1-api-server-x'], isAvailable: true },
    etcd: { isWanted: true, pods: ['c1-etcd-0'] },
    members: [member(0)],
    surplusPods: [],
    ...changes,
  };
}

const held = (changes: Partial<RestoreInput> = {}) => observed({ servers: stopped, etcd: noMembers, ...changes });

const creation = { kind: 'restore', members: [{ ordinal: 0, act: 'create' }], surplusPods: [] };
const earlier = observed({ record: another(true), members: [restored(0)] });

describe('the next step of a restore', () => {
  const table: [string, RestoreInput, object][] = [
    ['nothing without a request', observed({ request: undefined, record: undefined }), { kind: 'nothing' }],
    [
      'nothing if another one ran and none is requested',
      observed({ request: undefined, record: complete }),
      { kind: 'nothing' },
    ],
    ['nothing if it is complete', observed({ record: complete }), { kind: 'nothing' }],
    [
      'nothing if the volumes are marked as restored, and the status was lost',
      observed({ record: undefined, members: [restored(0)] }),
      { kind: 'nothing' },
    ],
    [
      'nothing if another one ran since it began',
      observed({ record: another(true, ['first', request]) }),
      { kind: 'nothing' },
    ],
    [
      'nothing if another one ran since, as only the volumes still say',
      observed({
        record: undefined,
        members: [member(0, { claim: { isGoing: false, restored: ['other', request] } })],
      }),
      { kind: 'nothing' },
    ],
    [
      'to report that another one has begun since it began',
      observed({ record: another(false, [request]), members: [restored(0)] }),
      { kind: 'withdrawn' },
    ],
    ['to report that it was withdrawn after it had started', observed({ request: undefined }), { kind: 'withdrawn' }],
    ['to choose and check the backup first', observed({ record: undefined, isPrepared: false }), { kind: 'prepare' }],
    [
      'to do so for another one too, even before the previous one has ended',
      observed({ record: another(false), isPrepared: false }),
      { kind: 'prepare' },
    ],
    ['to record its start', observed({ record: undefined }), { kind: 'begin' }],
    [
      'to stop the servers first',
      observed(),
      { kind: 'stopServers', workloads: ['c1-api-server'], pods: ['c1-api-server-x'] },
    ],
    [
      'to wait for pods of servers that are already scaled to zero',
      observed({ servers: { wanted: [], pods: ['c1-api-server-x'], isAvailable: false } }),
      { kind: 'stopServers', workloads: [], pods: ['c1-api-server-x'] },
    ],
    ['then to stop the members', observed({ servers: stopped }), { kind: 'stopMembers', pods: ['c1-etcd-0'] }],
    ['to prepare again after a restart of the operator', held({ isPrepared: false }), { kind: 'prepareAgain' }],
    [
      'to mark the claims if every pod has succeeded',
      held({ members: [member(0, { pod: pod({ state: 'succeeded' }) })] }),
      { kind: 'mark' },
    ],
    [
      'to mark the rest if the process died between two of them',
      held({
        members: [
          member(0, { claim: { isGoing: false, restored: [request] }, pod: pod({ state: 'succeeded' }) }),
          member(1, { pod: pod({ state: 'succeeded' }) }),
        ],
      }),
      { kind: 'mark' },
    ],
    [
      'to remove the pods if all claims are marked',
      held({ members: [{ ...restored(0), pod: pod() }] }),
      { kind: 'cleanUp' },
    ],
    [
      'to remove pods of surplus members before etcd starts',
      held({ members: [restored(0)], surplusPods: ['c1-restore-2'] }),
      { kind: 'cleanUp' },
    ],
    [
      'to restore the member whose claim is not marked yet before etcd starts',
      held({ members: [restored(0), member(1)], surplusPods: ['c1-restore-2'] }),
      {
        kind: 'restore',
        members: [
          { ordinal: 0, act: 'create' },
          { ordinal: 1, act: 'create' },
        ],
        surplusPods: ['c1-restore-2'],
      },
    ],
    ['to restore again if no volume claim is left', held({ members: [member(0, { claim: undefined })] }), creation],
    [
      'to restore again if only another restore has marked the claim',
      held({ members: [restored(0, 'other')] }),
      creation,
    ],
    [
      'to start etcd if a member that was requested later has no claim yet',
      held({ members: [restored(0), member(1, { claim: undefined })] }),
      { kind: 'start' },
    ],
    [
      'to wait for pods of members that are already scaled to zero',
      observed({ servers: stopped, etcd: { isWanted: false, pods: ['c1-etcd-0'] } }),
      { kind: 'stopMembers', pods: ['c1-etcd-0'] },
    ],
    [
      'to stop members that are not scaled to zero and have no pods yet',
      observed({ servers: stopped, etcd: { isWanted: true, pods: [] } }),
      { kind: 'stopMembers', pods: [] },
    ],
    [
      'to stop servers that are not scaled to zero and have no pods yet',
      observed({ servers: { wanted: ['c1-api-server'], pods: [], isAvailable: false } }),
      { kind: 'stopServers', workloads: ['c1-api-server'], pods: [] },
    ],
    [
      'to mark the claims also after a restart of the operator',
      held({ isPrepared: false, members: [member(0, { pod: pod({ state: 'succeeded' }) })] }),
      { kind: 'mark' },
    ],
    [
      'not to mark any claim while a pod of another member still works',
      held({ members: [member(0, { pod: pod({ state: 'succeeded' }) }), member(1, { pod: pod() })] }),
      {
        kind: 'restore',
        members: [
          { ordinal: 0, act: 'wait' },
          { ordinal: 1, act: 'wait' },
        ],
        surplusPods: [],
      },
    ],
    [
      'to remove the last pod',
      held({ members: [restored(0), { ...restored(1), pod: pod({ state: 'succeeded' }) }] }),
      { kind: 'cleanUp' },
    ],
    [
      'nothing if one remaining volume is marked as restored, and the status was lost',
      observed({ record: undefined, members: [member(0, { claim: undefined }), restored(1), member(2)] }),
      { kind: 'nothing' },
    ],
    ['nothing if an earlier one ran and the volumes are marked with this request', earlier, { kind: 'nothing' }],
    ['to start etcd when the pods are gone', held({ members: [restored(0)] }), { kind: 'start' }],
    [
      'not to stop servers that start with the restored data',
      observed({
        members: [restored(0)],
        servers: { wanted: ['c1-api-server'], pods: ['c1-api-server-x'], isAvailable: false },
      }),
      { kind: 'start' },
    ],
    [
      'to start etcd when the claim of another member does not exist yet',
      held({ members: [restored(0), member(1, { claim: undefined })] }),
      { kind: 'start' },
    ],
    ['to end when an API server is available', observed({ members: [restored(0)] }), { kind: 'complete' }],
  ];
  it.each(table)('is %s', (_, observation, expected) => {
    expect(planRestore(observation)).toEqual(expected);
  });

  const members: [string, Partial<MemberRestore>, string][] = [
    ['no pod', {}, 'create'],
    ['neither pod nor claim', { claim: undefined }, 'create'],
    ['a claim that is being deleted', { claim: { isGoing: true, restored: [] } }, 'wait'],
    ['a pod that starts', { pod: pod({ state: 'starting' }) }, 'wait'],
    ['a pod that waits for the snapshot', { pod: pod({ state: 'receiving' }) }, 'send'],
    ['a pod that works', { pod: pod() }, 'wait'],
    ['a pod that has failed', { pod: pod({ state: 'failed' }) }, 'discard'],
    ['a pod of another run', { pod: pod({ run: 'earlier', state: 'succeeded' }) }, 'discard'],
    [
      'a pod that uses a claim that is being deleted',
      { claim: { isGoing: true, restored: [] }, pod: pod() },
      'discard',
    ],
    ['a pod that has succeeded and is being deleted', { pod: pod({ isGoing: true, state: 'succeeded' }) }, 'wait'],
    ['a pod that has succeeded and no claim', { claim: undefined, pod: pod({ state: 'succeeded' }) }, 'discard'],
    [
      'a pod that has succeeded on a claim that is being deleted',
      { claim: { isGoing: true, restored: [] }, pod: pod({ state: 'succeeded' }) },
      'discard',
    ],
    ['a pod that is being deleted', { pod: pod({ isGoing: true, state: 'failed' }) }, 'wait'],
  ];
  it.each(members)('for a member with %s is this act', (_, changes, act) => {
    const decision = planRestore(held({ members: [member(0, changes)] }));
    expect(decision).toEqual({ kind: 'restore', members: [{ ordinal: 0, act }], surplusPods: [] });
  });

  it('never restores while members or servers run', () => {
    for (const servers of [stopped, { wanted: [], pods: ['p'], isAvailable: false }]) {
      for (const etcd of [noMembers, { isWanted: false, pods: ['c1-etcd-0'] }]) {
        const { kind } = planRestore(observed({ servers, etcd }));
        expect(kind === 'restore').toBe(servers.pods.length === 0 && etcd.pods.length === 0);
      }
    }
  });
});
