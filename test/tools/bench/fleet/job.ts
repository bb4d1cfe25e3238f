/** How the management API server goes away. */
export const outageWays = ['killed', 'silent', 'withoutEtcd'] as const;

/** How much of a fleet is measured. */
export interface FleetJob {
  /** Everything that a fleet costs, only outages, or what hostile servers of half of it do to the other half. */
  readonly part: 'fleet' | 'outages' | 'hostile';
  readonly clusters: number;
  /** The operator's setting of that name. */
  readonly optimizeFor: string;
  /** Time until what follows a change has ended. */
  readonly settleMs: number;
  readonly restMs: number;
  /** How, and how long, the management API server is away, each time that it is. */
  readonly outages: readonly { readonly way: (typeof outageWays)[number]; readonly seconds: number }[];
  /** Least reconciles whose latency is measured, without and with hostile clusters. */
  readonly reconciles: number;
  /** How many times of the schedule of backups pass meanwhile. */
  readonly schedules: { readonly quiet: number; readonly hostile: number };
}
