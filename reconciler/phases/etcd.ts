import { StatefulSet } from '../../constructs/api/resources.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { statefulSetReadiness } from '../kube/readiness.ts';
import { done, type Outcome, wait } from '../outcome.ts';
import type { Phase } from '../scope.ts';
import { etcdCertificates } from './certificates.ts';

/** The etcd cluster. Nobody waits for it to be healthy: an ill member must not stop the rest from being looked after. */
export const etcd: Phase = {
  condition: 'EtcdClusterReady',
  needs: [etcdCertificates],
  async run({ cluster, facts, writer }): Promise<Outcome> {
    const live = await writer.apply(renderControlPlane(cluster, facts, 'etcd'));

    const readiness = statefulSetReadiness(live.find(({ kind }) => kind === StatefulSet.kind));
    return readiness.ready ? done() : wait('WaitingForMembers', `etcd: ${readiness.message}`);
  },
};
