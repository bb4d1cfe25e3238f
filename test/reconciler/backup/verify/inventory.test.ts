import { expect, it } from 'vitest';
import type { ClusterBackups } from '../../../../reconciler/backup/cluster-backups.ts';
import { StoreError } from '../../../../reconciler/backup/store/store-error.ts';
import { listVerifications } from '../../../../reconciler/backup/verify/inventory.ts';

const backups = [
  { time: Date.parse('2026-11-21T11:00:00Z'), revision: 7, isVerified: false, owner: 'mine' },
  { time: Date.parse('2026-11-21T10:00:00Z'), revision: 6, isVerified: true, owner: 'mine' },
  { time: Date.parse('2026-11-21T09:00:00Z'), revision: 5, isVerified: true, owner: 'mine' },
];
const noted = { formatVersion: 1, time: '2026-11-21T10:05:00Z', revision: 6, restoreSeconds: 2.1 } as const;
const incarnation = { uid: 'mine', createdAt: 0, clusterId: undefined };

/** A store with these backups, one of another control plane among them, and this answer about a verification. */
const storeWith = (verification: () => Promise<typeof noted>) =>
  ({
    list: async () => ({ backups: [{ ...backups[0]!, time: 0, owner: 'other' }, ...backups], unfinished: [] }),
    marker: async ({ owner }: { owner: string }) => ({ formatVersion: 1, uids: [owner], clusterIds: [] }),
    verification,
  }) as unknown as ClusterBackups;

it('the newest verified backup is reported with whole seconds', async () => {
  const inventory = await listVerifications(
    storeWith(async () => noted),
    incarnation,
  );
  const lastVerified = { name: '2026-11-21T10-00-00.000Z-6', time: noted.time, restoreSeconds: 3 };
  expect(inventory).toEqual({ backups, lastVerified });
});

it('an unreadable note does not stop verifications, but an unreachable store does', async () => {
  const fails = (error: Error) =>
    listVerifications(
      storeWith(() => Promise.reject(error)),
      incarnation,
    );
  expect(await fails(new Error('it is not JSON'))).toEqual({ backups, lastVerified: undefined });
  await expect(fails(new StoreError('Unreachable', 'it is away'))).rejects.toThrow('it is away');
});
