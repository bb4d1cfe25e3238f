import type { Servers } from '../pods/servers.ts';

/** What of a control plane matters for its hibernation. */
export interface HibernationObservation {
  /** Whether the spec asks for it. */
  readonly isRequested: boolean;
  /** Whether a restore or a move is in progress, which stops and starts the components itself. */
  readonly isBusy: boolean;
  /** Number of Machines and MachinePools whose nodes would lose their API server; 0 if a user accepts that. */
  readonly machines: number;
  readonly servers: Servers;
  readonly etcd: {
    /** Whether it has desired replicas. */
    readonly isWanted: boolean;
    /** Pods that exist. */
    readonly pods: readonly string[];
  };
  /** Whether a backup has to hold all data first, and does not yet. */
  readonly awaitsBackup: boolean;
  /** Volume claims that are being deleted, and without which the others are no quorum. They end with the members. */
  readonly endangered: readonly string[];
}

/** The next step. The observed state shows each step, so that the next process continues after a process was killed. */
export type HibernationDecision =
  | { readonly kind: 'awake' }
  | { readonly kind: 'refuse'; readonly machines: number }
  | { readonly kind: 'keepVolumes'; readonly claims: readonly string[]; readonly isAwake: boolean }
  | { readonly kind: 'stopServers'; readonly workloads: readonly string[]; readonly pods: readonly string[] }
  | { readonly kind: 'awaitBackup' }
  | { readonly kind: 'stopMembers'; readonly pods: readonly string[] }
  | { readonly kind: 'asleep' };

/**
 * The next step of a hibernation. Machines prevent it only before anything has stopped: a control plane that is stopped in part
 * does not serve.
 */
export function planHibernation(observed: HibernationObservation): HibernationDecision {
  const { isRequested, isBusy, machines, servers, etcd, awaitsBackup, endangered } = observed;
  if (!isRequested || isBusy) return { kind: 'awake' };
  if (servers.wanted.length > 0) {
    if (machines > 0) return { kind: 'refuse', machines };
    if (endangered.length > 0) return { kind: 'keepVolumes', claims: endangered, isAwake: true };
    return { kind: 'stopServers', workloads: servers.wanted, pods: servers.pods };
  }
  if (servers.pods.length > 0) return { kind: 'stopServers', workloads: [], pods: servers.pods };
  if (etcd.isWanted) {
    if (awaitsBackup) return { kind: 'awaitBackup' };
    if (endangered.length > 0) return { kind: 'keepVolumes', claims: endangered, isAwake: false };
    return { kind: 'stopMembers', pods: etcd.pods };
  }
  return etcd.pods.length > 0 ? { kind: 'stopMembers', pods: etcd.pods } : { kind: 'asleep' };
}
