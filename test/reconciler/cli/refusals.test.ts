import { describe, expect, it } from 'vitest';
import { clusterNameLabel, pausedAnnotation, prepareMoveAnnotation } from '../../../constructs/api/group.ts';
import { backup } from '../../../reconciler/cli/backup.ts';
import type { Command } from '../../../reconciler/cli/command.ts';
import { hibernate, wake } from '../../../reconciler/cli/hibernate.ts';
import { move } from '../../../reconciler/cli/move.ts';
import type { KubernetesApi } from '../../../reconciler/kube/client.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import { hostedControlPlaneObject, spec } from '../../support/scope.ts';
import { testSession } from '../../support/test-session.ts';

interface Given {
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  /** `Type Status Reason`. */
  readonly conditions?: readonly string[];
  readonly isClusterPaused?: boolean;
  readonly mayReadClusters?: boolean;
}

const backedUp = { etcd: { backup: { schedule: '@daily', secret: { name: 'etcd-backup' } } } };

/** Runs a command on a control plane that has reported this, and returns what it has written and printed. */
async function run(command: Command, given: Given, positionals = ['c1'], values = {}) {
  const conditions = (given.conditions ?? []).map((text) => {
    const [type, status, reason] = text.split(' ');
    return { type, status, reason, message: 'its words', lastTransitionTime: '2026-11-21T12:00:00Z' };
  });
  const { metadata, ...rest } = hostedControlPlaneObject({ spec: { ...spec, ...given.spec } });
  const annotations = given.annotations ?? {};
  const object = {
    ...rest,
    metadata: { ...metadata, labels: { [clusterNameLabel]: 'c1' }, annotations },
    status: { conditions },
  };
  const written: unknown[] = [];
  const client = {
    list: async () => ({ items: [object] }),
    find: async () => {
      if (given.mayReadClusters === false) throw new KubeError('forbidden', { code: 403, reason: 'Forbidden' });
      return { spec: { paused: given.isClusterPaused ?? false } };
    },
    mergePatch: async (_resource: unknown, _name: unknown, patch: unknown) => {
      written.push(patch);
      return object;
    },
  };
  const { session, printed } = testSession({ client: client as unknown as KubernetesApi, namespace: 'team' });
  const ended = command.prepare({ positionals, values })(session);
  return {
    written,
    printed,
    error: await ended.then(
      () => undefined,
      (error: Error) => error.message,
    ),
  };
}

describe('a command refuses what the control plane says already, and writes nothing', () => {
  const paused = /^the control plane of c1 is paused, .* run hcp resume c1 -n team first$/;
  it.each<[string, Command, Given, string[], RegExp]>([
    ['a backup without backups', backup, {}, ['c1'], /has no backups: set spec\.etcd\.backup/],
    [
      'a backup with a Secret that is not usable',
      backup,
      { spec: backedUp, conditions: ['EtcdBackupReady False BackupSecretInvalid'] },
      ['c1'],
      /^no backup of c1 was requested: its words; to try it nevertheless, add --retry$/,
    ],
    [
      'a backup of one that hibernates',
      backup,
      { spec: backedUp, conditions: ['Ready False Hibernated', 'Awake False Hibernated'] },
      ['c1'],
      /^no backup of c1 was requested: it hibernates/,
    ],
    ['a backup during a pause', backup, { spec: backedUp, annotations: { [pausedAnnotation]: '' } }, ['c1'], paused],
    ['hibernation during a pause', hibernate, { annotations: { [pausedAnnotation]: '' } }, ['c1'], paused],
    [
      'hibernation while its Cluster is paused, which the user may not read',
      hibernate,
      { mayReadClusters: false, conditions: ['Paused True Paused'] },
      ['c1'],
      /^Cluster c1 is paused/,
    ],
    ['hibernation while its Cluster is paused', hibernate, { isClusterPaused: true }, ['c1'], /^Cluster c1 is paused/],
    [
      'to wake one that is awake',
      wake,
      { conditions: ['Awake True ReconcileSucceeded'] },
      ['c1'],
      /does not hibernate/,
    ],
    [
      'to wake one during a pause',
      wake,
      { spec: { hibernate: true }, annotations: { [pausedAnnotation]: '' } },
      ['c1'],
      paused,
    ],
    [
      'to abort a move that nobody has requested',
      move,
      { spec: backedUp, conditions: ['NoMovePending True ReconcileSucceeded'] },
      ['abort', 'c1'],
      /^no move of c1 is requested or under way: nothing was changed$/,
    ],
  ])('%s', async (_, command, given, positionals, message) => {
    const { written, error } = await run(command, given, positionals);
    expect(error).toMatch(message);
    expect(written).toEqual([]);
  });
});

describe('a command does', () => {
  it.each<[string, Command, Given, string[], object]>([
    ['take a backup', backup, { spec: backedUp, conditions: ['EtcdBackupReady True ReconcileSucceeded'] }, ['c1'], {}],
    [
      'retry a backup when it is told to',
      backup,
      { spec: backedUp, conditions: ['EtcdBackupReady False BackupSecretInvalid'] },
      ['c1'],
      { retry: true },
    ],
    [
      'take a backup while the store cannot be reached, which may be over',
      backup,
      { spec: backedUp, conditions: ['EtcdBackupReady False StoreUnavailable'] },
      ['c1'],
      {},
    ],
    ['hibernate', hibernate, {}, ['c1'], {}],
    ['hibernate for one who may not read Clusters', hibernate, { mayReadClusters: false }, ['c1'], {}],
    ['wake one that hibernates', wake, { spec: { hibernate: true } }, ['c1'], {}],
    ['wake one whose hibernation is ending', wake, { conditions: ['Awake False StoppingMembers'] }, ['c1'], {}],
    [
      'abort a move that is requested',
      move,
      { spec: backedUp, annotations: { [prepareMoveAnnotation]: 'now' } },
      ['abort', 'c1'],
      {},
    ],
  ])('%s', async (_, command, given, positionals, values) => {
    const { written, error } = await run(command, given, positionals, values);
    expect(error).toBeUndefined();
    expect(written).toHaveLength(1);
  });
});
