/**
 * Files that lend control planes to each other, one after the other in this order, so that none waits for another one. They are named
 * without their tier. The first of them is about the birth of the plain one, and the last changes it for good and deletes it.
 */
export const lentChain: readonly string[] = [
  'test/cluster/reconciler/life.test.ts',
  'test/cluster/monitoring/dashboards.test.ts',
  'test/cluster/backup/verification.test.ts',
  'test/cluster/backup/control-plane.test.ts',
  'test/cluster/reconciler/hcp.test.ts',
  'test/cluster/reconciler/hosted.test.ts',
  'test/cluster/reconciler/ca-rotation.test.ts',
  'test/cluster/reconciler/faults.test.ts',
  'test/cluster/restore/restore.test.ts',
  'test/cluster/etcd-pods/members.test.ts',
];
