import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClusterBackups } from '../../../../reconciler/backup/cluster-backups.ts';
import { backupId } from '../../../../constructs/cluster/backup-names.ts';
import { ObjectStore } from '../../../../reconciler/backup/store/object-store.ts';
import { readFolder } from '../../../../reconciler/backup/own-backups.ts';
import { ownerMarker } from '../../../../reconciler/backup/owner-marker.ts';
import type { EtcdAccess } from '../../../../reconciler/etcd/access.ts';
import { backUpNewestReachableMember } from '../../../../reconciler/backup/restore/newest-reachable-member.ts';
import { LoneMember, snapshot } from '../../../support/etcd-member.ts';
import { ObjectStoreServer } from '../../../support/object-store-server.ts';
import { snapshotFacts } from '../../../support/snapshot-facts.ts';

/** That of the member. */
const revision = 7;
const member = { ordinal: 0, name: 'c1-etcd-0', peerUrl: 'https://c1-etcd-0:2380', pod: undefined, claim: undefined };

let server: ObjectStoreServer;
let store: ObjectStore;
let backups: ClusterBackups;
beforeAll(async () => {
  server = await ObjectStoreServer.start();
  store = new ObjectStore(server.settings);
  backups = new ClusterBackups(store, { namespace: 'team', cluster: 'c1' });
});
afterAll(() => {
  store.close();
  server.stop();
});

/** The backup that is restored if the only one there, with the same revision, has this owner. */
async function backedUp(owner: string, isAnswering: boolean) {
  server.objects.clear();
  const there = { time: Date.parse('2026-11-21T09:15:31Z'), revision };
  const marker = ownerMarker({ uids: [owner], clusterIds: [] }, 'c3');
  await backups.write({ name: there, facts: snapshotFacts, marker, snapshot: bytes() });
  const openEtcd = (): EtcdAccess => ({
    clients: () => (isAnswering ? new LoneMember(member) : undefined),
    close: () => {},
  });
  const incarnation = { uid: 'mine', createdAt: 0, clusterId: '1267' };
  const folder = await readFolder(backups, incarnation);
  const members = { known: [member], openEtcd, kubernetesVersion: 'v1.36.3' };
  const context = { signal: AbortSignal.timeout(10_000), report: () => {} };
  const taken = await backUpNewestReachableMember(members, revision, { backups, folder }, context);
  return { isReused: backupId(taken) === backupId(there), taken };
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield snapshot;
}

it.each([true, false])(
  'its own backup of the accepted revision is reused; a member answers: %s',
  async (isAnswering) => {
    expect((await backedUp('mine', isAnswering)).isReused).toBe(true);
  },
);

it('a backup of another control plane with the same revision is not: the member is backed up', async () => {
  const { isReused, taken } = await backedUp('rehearsal', true);
  expect(isReused).toBe(false);
  const { own } = await readFolder(backups, { uid: 'mine', createdAt: 0, clusterId: '1267' });
  expect(own.map(backupId)).toEqual([backupId(taken)]);
});

it('a backup of another control plane does not replace a member that does not answer', async () => {
  await expect(backedUp('rehearsal', false)).rejects.toThrow('no etcd member answers');
});
