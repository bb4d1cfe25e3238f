import { expect, it } from 'vitest';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import { describeServed, type ServedObject } from '../../../reconciler/cli/served.ts';
import { markedView } from '../../support/marked-view.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const time = '2026-11-21T11:00:00Z';

const controlPlane = (
  namespace: string,
  cluster: string,
  secret: { readonly name: string; readonly namespace?: string } | undefined,
  status?: ServedObject['status'],
): ServedObject => ({
  apiVersion: HostedControlPlane.apiVersion,
  kind: HostedControlPlane.kind,
  metadata: { namespace, name: `${cluster}-x7k2p`, labels: { [clusterNameLabel]: cluster } },
  spec: { etcd: secret ? { backup: { secret } } : {} },
  ...(status ? { status } : {}),
});

const condition = (status: 'True' | 'False', reason: string, message: string) => ({
  conditions: [{ type: 'EtcdBackupReady', status, reason, message, lastTransitionTime: time }],
});
const shared = { name: 'etcd-backup', namespace: 'platform' };

it('the clusters that a Secret serves are listed over all namespaces, with what is wrong', () => {
  const objects = [
    controlPlane('team-b', 'prod', shared, condition('False', 'BackupSecretInvalid', 'not granted')),
    controlPlane('team-a', 'prod', shared, { etcdLastBackupTime: time, ...condition('True', 'Ready', '') }),
    controlPlane('platform', 'own', { name: 'etcd-backup' }),
    controlPlane('team-a', 'other-secret', { name: 'other', namespace: 'platform' }),
    controlPlane('team-a', 'other-namespace', { name: 'etcd-backup' }),
    controlPlane('team-a', 'none', undefined),
  ];
  expect(describeServed({ namespace: 'platform', name: 'etcd-backup' }, objects, now)).toEqual([
    'CLUSTER        LAST BACKUP   BACKUPS',
    'platform/own   none          unknown',
    'team-a/prod    1h ago        ready',
    'team-b/prod    none          BackupSecretInvalid',
    '',
    'Problems:',
    '  team-b/prod: not granted',
  ]);
});

it('the state of their backups is painted by its meaning', () => {
  const objects = [
    controlPlane('a', 'fails', shared, condition('False', 'BackupSecretInvalid', 'not granted')),
    controlPlane('a', 'waits', shared, condition('False', 'WaitingForOtherPhases', 'etcd comes first')),
    controlPlane('a', 'works', shared, condition('True', 'Ready', '')),
    controlPlane('a', 'young', shared),
  ];
  const text = describeServed(shared, objects, now, markedView).join('\n');
  expect(text).toMatch(/^a\/fails .*<fails>BackupSecretInvalid<\/fails>$/m);
  expect(text).toMatch(/^a\/waits .*<waits>WaitingForOtherPhases<\/waits>$/m);
  expect(text).toMatch(/^a\/works .*<ok>ready<\/ok>$/m);
  expect(text).toMatch(/^a\/young .*<unknown>unknown<\/unknown>$/m);
});

it('a Secret without users is said to have none', () => {
  expect(describeServed({ namespace: 'platform', name: 'x' }, [], now)).toEqual([
    'no cluster stores its backups with Secret platform/x',
  ]);
});
