import type { HostedControlPlaneStatus } from '../constructs/api/status.ts';
import { Deployment, Pod, Service, StatefulSet } from '../constructs/api/resources.ts';
import type { HostedCluster } from '../constructs/control-plane/cluster.ts';
import { etcdVolumeSize } from '../constructs/control-plane/etcd-config.ts';
import type { Facts } from '../constructs/control-plane/facts.ts';
import { inClusterAccessOf } from '../constructs/control-plane/in-cluster-access.ts';
import { selectorLabels } from '../constructs/control-plane/labels.ts';
import { namesOf } from '../constructs/control-plane/names.ts';
import type { DeploymentObject, PodObject, StatefulSetObject } from './kube/readiness.ts';
import type { EtcdReport } from './etcd/report.ts';
import type { ServiceObject } from './service-object.ts';
import type { StatusReport } from './outcome.ts';
import type { World } from './world.ts';
import type { Observation } from './status.ts';
import type { Verdicts } from './verdict.ts';

/** Collects what a status is computed from, after the phases have run. */
export function observe(
  cluster: HostedCluster,
  previous: HostedControlPlaneStatus | undefined,
  world: World,
  phases: Verdicts,
  facts: Pick<Facts, 'endpoint' | 'advertiseAddress' | 'etcd'>,
  report: StatusReport,
  etcdReport: EtcdReport | undefined,
): Observation {
  const names = namesOf(cluster.name);
  return {
    cluster: cluster.name,
    spec: cluster.spec,
    previous,
    phases,
    report,
    etcdReport,
    apiServer: world.get<DeploymentObject>(Deployment, names.apiServer),
    controllerManager: world.get<DeploymentObject>(Deployment, names.controllerManager),
    scheduler: world.get<DeploymentObject>(Deployment, names.scheduler),
    etcd: world.get<StatefulSetObject>(StatefulSet, names.etcd),
    apiServerPods: world.list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server')),
    etcdVolumeSize: facts.etcd?.volumeSize ?? etcdVolumeSize(cluster),
    loadBalancerIP: world.get<ServiceObject>(Service, names.apiService)?.status?.loadBalancer?.ingress?.[0]?.ip,
    inClusterAccess: facts.endpoint && inClusterAccessOf(cluster, facts),
  };
}
