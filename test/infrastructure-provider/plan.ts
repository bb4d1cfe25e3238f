import type { KubeObject } from '../../reconciler/kube/object.ts';

/** What Cluster API writes to a Cluster that concerns its infrastructure. */
export interface ClusterObject extends KubeObject {
  readonly spec?: { readonly paused?: boolean };
}

/** An object of the infrastructure of a cluster. */
export interface InfraClusterObject extends KubeObject {
  readonly spec?: { readonly controlPlaneEndpoint?: { readonly host?: string } };
  readonly status?: { readonly initialization?: { readonly provisioned?: boolean } };
}

/** What Cluster API asks of a machine: a part of a Machine's spec, and of the template of a MachinePool. */
export interface WantedMachine {
  readonly clusterName: string;
  readonly version?: string;
  readonly bootstrap: { readonly dataSecretName?: string };
}

/** A machine on this host, or what is left of it. */
export type HostMachine = 'absent' | 'joined' | 'unfinished';

/** What the provider does next about a machine. */
export type MachineStep =
  | { readonly kind: 'none' }
  /** Nothing is wrong, and this is missing. */
  | { readonly kind: 'wait'; readonly for: string }
  /** Its first boot, with this Secret of bootstrap data. A machine whose first boot was interrupted begins again. */
  | { readonly kind: 'boot'; readonly dataSecretName: string; readonly version: string | undefined }
  /** The machine is there, and its status does not say so: a move to another management cluster takes no status along. */
  | { readonly kind: 'report' }
  | { readonly kind: 'remove' };

export interface MachineFacts {
  readonly isDeleted: boolean;
  /** Of its Cluster, or by its own annotation. */
  readonly isPaused: boolean;
  readonly isClusterProvisioned: boolean;
  /** Undefined while Cluster API has not named its owner yet. */
  readonly wanted: WantedMachine | undefined;
  readonly host: HostMachine;
  /** Whether the status says that it is provisioned. */
  readonly isReported: boolean;
}

const pausedAnnotation = 'cluster.x-k8s.io/paused';

/** Whether a provider leaves an object alone, by the contract of Cluster API. */
export function isPaused({ metadata }: KubeObject, cluster: ClusterObject | undefined): boolean {
  return cluster?.spec?.paused === true || metadata.annotations?.[pausedAnnotation] !== undefined;
}

/** Whether the infrastructure of a cluster is complete: as in a cloud without load balancers, others give it the endpoint. */
export function isProvisioned({ spec }: InfraClusterObject): boolean {
  return (spec?.controlPlaneEndpoint?.host ?? '') !== '';
}

/** The next step for one machine. */
export function machineStep(facts: MachineFacts): MachineStep {
  const { isDeleted, isPaused, isClusterProvisioned, wanted, host, isReported } = facts;
  if (isPaused) return { kind: 'none' };
  if (isDeleted) return { kind: 'remove' };
  if (host === 'joined') return { kind: isReported ? 'none' : 'report' };
  if (!wanted) return { kind: 'wait', for: 'its owner' };
  if (!isClusterProvisioned) return { kind: 'wait', for: 'the infrastructure of its cluster' };
  const { dataSecretName } = wanted.bootstrap;
  if (dataSecretName === undefined) return { kind: 'wait', for: 'bootstrap data' };
  return { kind: 'boot', dataSecretName, version: wanted.version };
}

/** The names of a pool's machines, the ones to keep when it shrinks first. */
export function poolMachines(pool: string, replicas: number): string[] {
  return Array.from({ length: replicas }, (_, index) => `${pool}-${index}`);
}
