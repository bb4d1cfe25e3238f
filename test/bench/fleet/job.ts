/** How much of a fleet is measured. */
export interface FleetJob {
  /** Only outages are measured, or everything. */
  readonly part: 'fleet' | 'outages';
  readonly clusters: number;
  /** The operator's setting of that name. */
  readonly optimizeFor: string;
  /** Time until what follows a change has ended. */
  readonly settleMs: number;
  readonly restMs: number;
  /** How long the management API server is away, each time that it is. */
  readonly outageSeconds: readonly number[];
  /** Reconciles whose latency is measured, without and with a hostile cluster. */
  readonly reconciles: number;
}
