import { Construct } from 'constructs';
import { readAtStart } from '../certificates/restarts.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { type Facts, rolloutOf } from '../../cluster/facts.ts';
import { kubeClientFlags, KubeClientComponent } from './kube-client-component.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';

/** Every flag that the operator sets on kube-scheduler. */
export const schedulerFlags = kubeClientFlags;

/** The scheduler of one hosted control plane. */
export class Scheduler extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { cluster, facts }: { readonly cluster: HostedCluster; readonly facts: Facts },
  ) {
    super(scope, id);
    new KubeClientComponent(this, 'component', {
      cluster,
      component: 'scheduler',
      flags: schedulerFlags,
      settings: cluster.spec.deployment.scheduler,
      port: ports.scheduler,
      probePaths: { startup: '/readyz', readiness: '/readyz', liveness: '/livez' },
      requests: { cpu: '20m', memory: '64Mi' },
      clientCertificate: namesOf(cluster.name).secrets.scheduler,
      pki: [],
      restartsWith: { ...readAtStart(cluster, facts, 'scheduler'), ...rolloutOf(facts) },
    });
  }
}
