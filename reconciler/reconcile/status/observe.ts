import type { DeploymentObject, PodObject, ServiceObject, StatefulSetObject } from '../../../imports/kubernetes.ts';
import { serviceAccountIssuerAnnotation } from '../../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../../constructs/api/hosted-control-plane.ts';
import { Deployment, Pod, Secret, Service, StatefulSet } from '../../../constructs/api/resources.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { overruledSettings } from '../../../constructs/ineffective-settings.ts';
import { etcdVolumeSize } from '../../../constructs/control-plane/etcd/config.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { inClusterAccessOf } from '../../../constructs/cluster/in-cluster-access.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import type { Reader } from '../../clusters/management/view.ts';
import type { Observation } from './summaries.ts';
import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import { type ConditionReason, conditionTypes } from '../../../constructs/api/conditions.ts';
import { type ConditionUpdates, conditionUpdate } from '../../engine/condition-update.ts';

/** The control plane that a status is about. */
export interface StatusSubject {
  /** As it is rendered. */
  readonly cluster: HostedCluster;
  /** With the version of its spec, which the status compares with what runs. */
  readonly accepted: HostedCluster;
  readonly hostedControlPlane: HostedControlPlane;
  readonly reader: Reader;
  readonly facts: Pick<Facts, 'endpoint' | 'advertiseAddress' | 'etcd'>;
}

/** Collects the input of a status after the phases have run. */
export function observe(
  { cluster, accepted, hostedControlPlane, reader, facts }: StatusSubject,
  { phases, report, etcdReport }: Pick<Observation, 'phases' | 'report' | 'etcdReport'>,
): Observation {
  const names = namesOf(cluster.name);
  const service = reader.get<ServiceObject>(Service, names.apiService);
  return {
    cluster: cluster.name,
    namespace: cluster.namespace,
    spec: accepted.spec,
    previous: hostedControlPlane.status,
    binaries: cluster.binaries,
    phases,
    report,
    etcdReport,
    apiServer: reader.get<DeploymentObject>(Deployment, names.apiServer),
    controllerManager: reader.get<DeploymentObject>(Deployment, names.controllerManager),
    scheduler: reader.get<DeploymentObject>(Deployment, names.scheduler),
    etcd: reader.get<StatefulSetObject>(StatefulSet, names.etcd),
    apiServerPods: reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server')),
    etcdVolumeSize: facts.etcd?.volumeSize ?? hostedControlPlane.status?.etcdVolumeSize ?? etcdVolumeSize(cluster),
    loadBalancerIP: service?.status?.loadBalancer?.ingress?.[0]?.ip,
    isBalanced: service?.spec?.type === 'LoadBalancer',
    serviceAccountIssuer: reader.get(Secret, names.secrets.serviceAccount)?.metadata.annotations?.[
      serviceAccountIssuerAnnotation
    ],
    overruled: overruledSettings(cluster, facts),
    inClusterAccess: facts.endpoint && inClusterAccessOf(cluster, facts),
  };
}

/**
 * A condition that was True for this generation of the spec stays True until the operator has looked again: its restart
 * says nothing about the control plane.
 */
export function keptUntilObserved(
  updates: ConditionUpdates,
  { metadata, status }: HostedControlPlaneObject,
): ConditionUpdates {
  const kept = conditionTypes.flatMap((type) => {
    if (updates[type]?.reason !== 'NotObserved') return [];
    const before = status?.conditions?.find((condition) => condition.type === type);
    if (before?.status !== 'True' || before.observedGeneration !== metadata.generation) return [];
    return [[type, conditionUpdate('True', before.reason as ConditionReason, before.message)] as const];
  });
  return { ...updates, ...Object.fromEntries(kept) };
}
