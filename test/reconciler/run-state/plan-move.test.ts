import { describe, expect, it } from 'vitest';
import { type MoveDecision, type MoveInput, planMove } from '../../../reconciler/run-state/plan-move.ts';

const backup = '2026-11-25T09-00-00.000Z-42';
const own = { uid: 'here', backup };
const stopped = { wanted: [], pods: [] };

function observed(changes: Partial<MoveInput> = {}): MoveInput {
  return {
    isRequested: true,
    uid: 'here',
    record: undefined,
    isRestored: false,
    isBlocked: true,
    claimedBy: undefined,
    isHibernated: false,
    hasStore: true,
    hasServed: true,
    isUpgrading: false,
    servers: { wanted: ['c1-api-server'], pods: ['c1-api-server-x'] },
    etcd: { isWanted: true, pods: ['c1-etcd-0'] },
    backup: undefined,
    verified: undefined,
    ...changes,
  };
}

const prepared = (changes: Partial<MoveInput> = {}) =>
  observed({ record: own, servers: stopped, backup, verified: backup, ...changes });
const withdrawn = (changes: Partial<MoveInput> = {}) => prepared({ isRequested: false, ...changes });
/** The object that a move has created, with the annotations of the one that it was. */
const arrived = (changes: Partial<MoveInput> = {}) => prepared({ uid: 'there', hasServed: false, ...changes });

describe('the next step of a move', () => {
  const table: [string, MoveInput, MoveDecision][] = [
    ['nothing that nobody asks for', observed({ isRequested: false }), { kind: 'nothing' }],
    ['nothing without a bucket', observed({ hasStore: false }), { kind: 'refuse', because: 'noStore' }],
    [
      'nothing before there are data',
      observed({ hasServed: false, servers: stopped }),
      { kind: 'refuse', because: 'neverServed' },
    ],
    ['nothing while it hibernates', observed({ isHibernated: true }), { kind: 'refuse', because: 'hibernated' }],
    ['nothing in the middle of an upgrade', observed({ isUpgrading: true }), { kind: 'refuse', because: 'upgrading' }],
    [
      'to stop the API servers',
      observed(),
      { kind: 'stopServers', workloads: ['c1-api-server'], pods: ['c1-api-server-x'] },
    ],
    [
      'to wait for their last pods, also when the version has changed since they were told to stop',
      observed({ isUpgrading: true, servers: { wanted: [], pods: ['c1-api-server-x'] } }),
      { kind: 'stopServers', workloads: [], pods: ['c1-api-server-x'] },
    ],
    ['to wait for a backup of later than that', observed({ servers: stopped }), { kind: 'awaitBackup' }],
    [
      'to wait for its verification',
      observed({ servers: stopped, backup, verified: 'an older one' }),
      { kind: 'awaitVerification', backup },
    ],
    [
      'to stay prepared, also when it is to hibernate',
      prepared({ isHibernated: true, isBlocked: false }),
      { kind: 'prepared', backup },
    ],
    ['to record it', observed({ servers: stopped, backup, verified: backup }), { kind: 'record', backup }],
    ['to let clusterctl go on', prepared(), { kind: 'unblock', backup }],
    ['to wait for clusterctl', prepared({ isBlocked: false }), { kind: 'prepared', backup }],
    [
      'to stop an API server that runs in spite of it',
      prepared({ servers: { wanted: ['c1-api-server'], pods: [] } }),
      { kind: 'stopServers', workloads: ['c1-api-server'], pods: [] },
    ],
    ['back: to ask whose the data are', withdrawn(), { kind: 'claim', backup }],
    ['back: to serve again', withdrawn({ claimedBy: 'here' }), { kind: 'forget' }],
    [
      'back: never to serve what serves elsewhere',
      withdrawn({ claimedBy: 'there' }),
      { kind: 'movedAway', backup, to: 'there' },
    ],
    [
      'back: to serve at once before a backup was recorded',
      observed({ isRequested: false, servers: stopped }),
      { kind: 'nothing' },
    ],
    ['there: to wait for the restore', arrived(), { kind: 'nothing' }],
    ['there: to forget the move once the data are restored', arrived({ isRestored: true }), { kind: 'forget' }],
    ['there: the same without the request', arrived({ isRequested: false, isRestored: true }), { kind: 'forget' }],
  ];
  it.each(table)('is %s', (_, observation, decision) => expect(planMove(observation)).toEqual(decision));
});
