import type { Servers } from '../clusters/pods/servers.ts';

/** How far a control plane stops. etcd stops after everything that writes to it. */
export type StopLevel = 'ServersStopped' | 'AllStopped';

/** What runs of a control plane. */
export interface Running {
  readonly servers: Servers;
  readonly etcd: {
    /** Whether it has desired replicas. */
    readonly isWanted: boolean;
    /** Pods that exist. */
    readonly pods: readonly string[];
  };
}

export interface StopInput extends Running {
  readonly level: StopLevel;
  /** Whether a backup has to hold all data before the stop goes on, and does not yet. */
  readonly awaitsBackup: boolean;
}

/** The next step of a stop. The observed state shows each step, so that the next process continues after a process was killed. */
export type StopDecision =
  | { readonly kind: 'stopServers'; readonly workloads: readonly string[]; readonly pods: readonly string[] }
  | { readonly kind: 'awaitBackup' }
  | { readonly kind: 'stopMembers'; readonly pods: readonly string[] }
  | { readonly kind: 'stopped' };

export function planStop({ servers, etcd, level, awaitsBackup }: StopInput): StopDecision {
  if (servers.wanted.length > 0 || servers.pods.length > 0)
    return { kind: 'stopServers', workloads: servers.wanted, pods: servers.pods };
  // A member that is stopping takes no backup any more.
  if (awaitsBackup && etcd.isWanted) return { kind: 'awaitBackup' };
  const isDone = level === 'ServersStopped' || (!etcd.isWanted && etcd.pods.length === 0);
  return isDone ? { kind: 'stopped' } : { kind: 'stopMembers', pods: etcd.pods };
}
