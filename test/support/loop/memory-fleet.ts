import { Namespace } from '../../../constructs/api/resources.ts';
import { ManualClock } from '../manual-clock.ts';
import { MemoryClient } from '../memory-cluster/client.ts';
import { administrator } from '../memory-cluster/users.ts';
import { clusterName, namespace, now } from '../scope.ts';
import { emptyHostedCluster, MemoryCluster } from './memory-cluster.ts';
import { MemoryEtcd } from './memory-etcd.ts';
import { OperatorProcess } from './operator-process.ts';

const otherNamespace = 'other-team';

/**
 * Several control planes that run in one management cluster, in two namespaces; no operator does. One is the beginning of the name
 * of another: `c1`, `c10`. @returns the first one, whose neighbours are the others
 */
export async function completeFleet(count: number, spec: object): Promise<MemoryCluster> {
  const first = new MemoryCluster(new ManualClock(now.getTime()));
  const { clock, management } = first;
  await first.install();
  const user = new MemoryClient(management, administrator('somebody'));
  const { apiVersion, kind } = Namespace;
  await user.create({ apiVersion, kind, metadata: { name: otherNamespace } }, { fieldManager: 'somebody' });
  first.neighbours = Array.from({ length: count - 1 }, (_, index) => {
    const number = index + 2;
    const place = {
      cluster: clusterName.replace('1', String(number)),
      namespace: number % 2 === 1 ? namespace : otherNamespace,
      address: `192.0.2.${100 + number}`,
    };
    return new MemoryCluster(clock, management, emptyHostedCluster(clock), new MemoryEtcd(), place);
  });
  for (const each of first.all) await each.order(spec);
  const operator = await OperatorProcess.start(first);
  for (const each of first.all) await operator.untilSettled(each);
  await operator.stop();
  return first;
}
