import type { HostedControlPlaneStatus } from '../../../../constructs/api/status.ts';

/**
 * Sixteenths of the quota from which on etcd is too full for an upgrade: in the middle of one, no API server and no controller
 * could write. Volumes that can grow have done so long before.
 */
const fullFrom = 13;

/** Why etcd must not be changed now; undefined when it is healthy and has space. */
export function etcdProblem(
  status: Pick<HostedControlPlaneStatus, 'conditions' | 'etcd'> | undefined,
): string | undefined {
  const health = status?.conditions?.find(({ type }) => type === 'EtcdClusterHealthy');
  if (health?.status === 'False') return health.message;
  // After a move or a restart the operator has not looked yet, and what it has not seen must not pass.
  if (health?.status !== 'True')
    return 'the operator has not observed its health yet: wait until the condition EtcdClusterHealthy is True';
  const used = status?.etcd?.quotaSixteenths ?? 0;
  return used >= fullFrom
    ? `its database fills ${used} of 16 parts of its quota: delete objects, or let the volumes grow (see the condition EtcdClusterReady): a full one accepts no writes`
    : undefined;
}
