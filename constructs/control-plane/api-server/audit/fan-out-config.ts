/**
 * When the API server gets its answer. `batch`: once the records are queued for every receiver. `blocking`: when every
 * receiver has answered or timed out. `blocking-strict`: the same, and an error if any receiver has not taken them.
 */
export type Mode = 'batch' | 'blocking' | 'blocking-strict';

/** One receiver of audit records. */
export interface Target {
  readonly server: string;
  /** PEM; Node's own roots when missing. */
  readonly certificateAuthority?: string;
  /** File with the bearer token, read for every request; none is sent when missing. */
  readonly tokenFile?: string;
}

/** The configuration file. The operator writes it, and checks what users give. */
export interface FanOutConfig {
  readonly mode: Mode;
  readonly targets: readonly Target[];
}
