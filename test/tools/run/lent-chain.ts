/** The first is about the birth of the control plane, and the last changes it for good and deletes it. */
const plain: readonly string[] = [
  'test/cluster/reconciler/life.test.ts',
  'test/cluster/monitoring/dashboards.test.ts',
  'test/cluster/backup/verification.test.ts',
  'test/cluster/backup/control-plane.test.ts',
  'test/cluster/reconciler/hcp.test.ts',
  'test/cluster/reconciler/hosted.test.ts',
  'test/cluster/reconciler/ca-rotation.test.ts',
  'test/cluster/reconciler/faults.test.ts',
  'test/cluster/reconciler/deputies.test.ts',
  'test/cluster/reconciler/mistakes.test.ts',
  'test/cluster/restore/restore.test.ts',
  'test/cluster/etcd-pods/members.test.ts',
];

/** The last deletes it. */
const gatewayWithWorkers: readonly string[] = [
  'test/cluster/workers/join.test.ts',
  'test/cluster/access/modes.test.ts',
  'test/cluster/certificates/kubelet-serving.test.ts',
  'test/cluster/workers/only-agent.test.ts',
  'test/cluster/exposure/gateway.test.ts',
];

/**
 * Files that lend control planes to each other, one after the other in this order, so that none waits for another one, and at most one
 * control plane is there. They are named without their tier.
 */
export const lentChain: readonly string[] = [...plain, ...gatewayWithWorkers];
