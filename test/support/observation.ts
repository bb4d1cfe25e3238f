import type { DeploymentObject, StatefulSetObject } from '../../imports/kubernetes.ts';
import { Deployment, StatefulSet } from '../../constructs/api/resources.ts';
import { type Observation } from '../../reconciler/reconcile/status/summaries.ts';
import { conditionUpdate } from '../../reconciler/engine/condition-update.ts';
import { clusterName, hostedCluster, namespace } from './scope.ts';

/** Counts as a Deployment's status has them. */
export type Counts = NonNullable<DeploymentObject['status']>;

/** Counts of three API servers when nothing rolls out. */
export const whole = { observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 3, availableReplicas: 3 };
export const succeeded = conditionUpdate('True', 'ReconcileSucceeded');
export const failed = (message: string) => conditionUpdate('False', 'ReconcileFailed', message);
export const waiting = conditionUpdate('False', 'WaitingForOtherPhases', 'waiting for X');

export function deployment(status: Counts, replicas = 3): DeploymentObject {
  const { apiVersion, kind } = Deployment;
  return { apiVersion, kind, metadata: { name: 'x', generation: 2 }, spec: { replicas }, status };
}

export function etcd(readyReplicas: number, replicas = 3): StatefulSetObject {
  const { apiVersion, kind } = StatefulSet;
  return { apiVersion, kind, metadata: { name: 'c1-etcd' }, spec: { replicas }, status: { readyReplicas } };
}

/** A control plane of three API servers in which everything works. */
export function observation(changes: Partial<Observation> = {}): Observation {
  return {
    cluster: clusterName,
    namespace,
    spec: hostedCluster({ replicas: 3 }).spec,
    previous: undefined,
    phases: {
      CACertificatesReady: succeeded,
      EtcdCertificatesReady: succeeded,
      CertificatesReady: succeeded,
      WorkloadSetupReady: succeeded,
    },
    report: {},
    etcdReport: undefined,
    apiServer: deployment(whole),
    controllerManager: deployment(whole),
    scheduler: deployment(whole),
    etcd: etcd(3),
    apiServerPods: [],
    etcdVolumeSize: '4Gi',
    loadBalancerIP: undefined,
    isBalanced: false,
    inClusterAccess: 'LoadBalancer',
    serviceAccountIssuer: undefined,
    overruled: [],
    ...changes,
  };
}
