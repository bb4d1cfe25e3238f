import { expect, it } from 'vitest';
import { StoreError } from '../../../../reconciler/backup/store-error.ts';
import { listVerifications } from '../../../../reconciler/backup/verify/survey.ts';

const backups = [
  { time: Date.parse('2026-11-21T11:00:00Z'), revision: 7, isVerified: false },
  { time: Date.parse('2026-11-21T10:00:00Z'), revision: 6, isVerified: true },
  { time: Date.parse('2026-11-21T09:00:00Z'), revision: 5, isVerified: true },
];
const noted = { formatVersion: 1, time: '2026-11-21T10:05:00Z', revision: 6, restoreSeconds: 2.1 } as const;
const list = async () => ({ backups, unfinished: [] });

it('the newest verified backup is reported with whole seconds', async () => {
  const inventory = await listVerifications({ list, verification: async () => noted });
  const lastVerified = { name: '2026-11-21T10-00-00.000Z-6', time: noted.time, restoreSeconds: 3 };
  expect(inventory).toEqual({ backups, lastVerified });
});

it('an unreadable note does not stop verifications, but an unreachable store does', async () => {
  const fails = (error: Error) => listVerifications({ list, verification: () => Promise.reject(error) });
  expect(await fails(new Error('it is not JSON'))).toEqual({ backups, lastVerified: undefined });
  await expect(fails(new StoreError('Unreachable', 'it is away'))).rejects.toThrow('it is away');
});
