/** How much of a fleet is measured. */
export interface FleetJob {
  readonly clusters: number;
  /** Everything that a fleet costs, or what hostile API servers of half of it do to the other half. */
  readonly measured: 'fleet' | 'hostile';
  /** The operator's setting of that name. */
  readonly optimizeFor: string;
  /** Time until what follows a change has ended. */
  readonly settleMs: number;
  readonly restMs: number;
  /** How long the management API server is away. */
  readonly awayMs: number;
  /** Reconciles whose latency is measured, without and with hostile clusters. */
  readonly reconciles: number;
}
