import type { SnapshotFacts } from '../../reconciler/backup/cluster-backups.ts';

/** A manifest's facts about a snapshot, for tests in which they do not matter. */
export const snapshotFacts: SnapshotFacts = {
  clusterId: 'cdf818194e3a8c32',
  etcdVersion: '3.6.16',
  kubernetesVersion: 'v1.36.3',
  keys: { total: 2, byResource: { '/registry/secrets': 2 } },
};
