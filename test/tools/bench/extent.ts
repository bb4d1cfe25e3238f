import { kubernetesVersion, single } from '../../support/workbench.ts';
import { type FleetJob, outageWays } from './fleet/job.ts';
import type { RequestPlan } from './request-times.ts';

/** A control plane that is compared with the floor. */
export interface Shape {
  readonly name: string;
  readonly replicas: number;
  readonly members: number;
  /** At most so long a deletion, and so many requests to provision one. */
  readonly goals: { readonly deletedSeconds: number; readonly requests: number };
}

/** The amount of work of the bench. */
export interface Extent {
  readonly runs: number;
  readonly shapes: readonly Shape[];
  /** What one control plane costs while nothing happens: its spec, and the duration. */
  readonly rest: { readonly spec: object; readonly settleMs: number; readonly ms: number };
  /** The control plane that is upgraded. */
  readonly upgrade: Shape;
  readonly requests: Pick<RequestPlan, 'rounds' | 'onOpenConnection' | 'onNewConnections'>;
  readonly backupBytes: number;
  readonly stalls: {
    readonly dataBytes: number;
    /** At four fifths of it a member is defragmented, however small its database is. */
    readonly quotaBytes: number;
    readonly restMs: number;
  };
  /** Audit records through the fan-out: many in a request, one in each, and those that wait for receivers. */
  readonly audit: { readonly inBatches: number; readonly alone: number; readonly waiting: number };
  readonly fleet: Omit<FleetJob, 'part'>;
  /** The same fleet, and only outages of its management API server. */
  readonly outages: Pick<FleetJob, 'outages'>;
  /** The same fleet, the servers of half of which are hostile. */
  readonly hostile: Omit<FleetJob, 'part' | 'outages'>;
}

export const smallest: Shape = {
  name: '1 API server, 1 etcd member',
  replicas: 1,
  members: 1,
  goals: { deletedSeconds: 5, requests: 50 },
};

export const highlyAvailable: Shape = {
  name: '2 API servers, 3 etcd members',
  replicas: 2,
  members: 3,
  goals: { deletedSeconds: 9, requests: 60 },
};

/** Enough work for reliable figures. @param fleet its size, and what its operator spares */
export function wholeExtent(runs: number, fleet: Pick<FleetJob, 'clusters' | 'optimizeFor'>): Extent {
  return {
    runs,
    shapes: [smallest, highlyAvailable],
    upgrade: highlyAvailable,
    rest: { spec: { version: kubernetesVersion, exposure: { loadBalancer: {} } }, settleMs: 5_000, ms: 120_000 },
    requests: { rounds: 20, onOpenConnection: 100, onNewConnections: 10 },
    backupBytes: 2 ** 30,
    stalls: { dataBytes: 2 ** 29, quotaBytes: 2 ** 32, restMs: 5_000 },
    audit: { inBatches: 400_000, alone: 20_000, waiting: 200_000 },
    fleet: {
      ...fleet,
      settleMs: 30_000,
      restMs: 120_000,
      outages: [{ way: 'killed', seconds: 60 }],
      reconciles: 300,
      schedules: { quiet: 0, hostile: 0 },
    },
    outages: {
      outages: outageWays.flatMap((way) => [1, 10, 60, 300].map((seconds) => ({ way, seconds }))),
    },
    hostile: {
      ...fleet,
      clusters: 40,
      settleMs: 30_000,
      restMs: 0,
      reconciles: 100,
      schedules: { quiet: 3, hostile: 3 },
    },
  };
}

/** The minimum that shows that everything can still be measured. */
export const smokeExtent: Extent = {
  runs: 1,
  shapes: [smallest],
  upgrade: smallest,
  rest: { spec: single, settleMs: 0, ms: 5_000 },
  requests: { rounds: 1, onOpenConnection: 5, onNewConnections: 2 },
  backupBytes: 2 ** 23,
  stalls: { dataBytes: 2 ** 25, quotaBytes: 2 ** 25, restMs: 500 },
  audit: { inBatches: 2_000, alone: 20, waiting: 2_000 },
  fleet: {
    clusters: 3,
    optimizeFor: 'auto',
    settleMs: 500,
    restMs: 1_000,
    outages: [{ way: 'killed', seconds: 1 }],
    reconciles: 4,
    schedules: { quiet: 0, hostile: 0 },
  },
  outages: { outages: outageWays.map((way) => ({ way, seconds: 1 })) },
  hostile: {
    clusters: 8,
    optimizeFor: 'auto',
    settleMs: 10_000,
    restMs: 0,
    reconciles: 4,
    schedules: { quiet: 0, hostile: 1 },
  },
};
