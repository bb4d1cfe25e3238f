import { afterEach, beforeEach, expect, it } from 'vitest';
import { Backup } from '../../../../constructs/api/backup-spec.ts';
import { type StoreCheck, storeCheck } from '../../../../reconciler/backup/store/store-check.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { BackgroundWork } from '../../../../reconciler/engine/tasks/background-work.ts';
import { storeSecret } from '../../../support/backup-secrets.ts';
import { ObjectStoreServer } from '../../../support/object-store-server.ts';

let server: ObjectStoreServer;
beforeEach(async () => {
  server = await ObjectStoreServer.start();
});
afterEach(() => server.stop());

const place = { namespace: 'platform', name: 'etcd-backup' };

/** The result of one check, of a store whose Secret lets these namespaces use it. */
async function check(access: string, settings = server.settings): Promise<StoreCheck> {
  const secret = storeSecret(place, settings);
  const annotations = { 'controlplane.cluster.x-k8s.io/backup-access': access };
  const spec = Backup.parse({ schedule: '@daily', secret: place });
  return new Promise((resolve) => {
    const work = new BackgroundWork({ clock: systemClock, onChange: () => resolve(look()) }).of('team/c1');
    const look = () =>
      storeCheck(
        {
          cluster: { namespace: 'team', name: 'c1' },
          work,
          now: new Date(),
          storeReader: {
            secret: async () => ({ ...secret, metadata: { ...secret.metadata, annotations } }),
            serviceAccountToken: async () => 'none',
          },
        },
        spec,
      );
    expect(look()).toEqual({ kind: 'running' });
  });
}

it('a store passes that lists the folder, even an empty one', async () => {
  expect(await check('team')).toMatchObject({ kind: 'passed' });
  expect(server.lists).toBe(1);
});

it('a Secret that does not let the namespace use it is told before a backup is due, with the line to add', async () => {
  expect(await check('other')).toMatchObject({
    kind: 'refused',
    failure: {
      reason: 'BackupSecretInvalid',
      message: expect.stringContaining('controlplane.cluster.x-k8s.io/backup-access: team') as unknown,
    },
  });
  expect(server.lists).toBe(0);
});

it('a store that does not answer is told before a backup is due', async () => {
  const { settings } = server;
  server.stop();
  expect(await check('team', settings)).toMatchObject({ kind: 'refused', failure: { reason: 'StoreUnavailable' } });
});
