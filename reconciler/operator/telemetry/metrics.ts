import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { releaseVersion } from '../../../constructs/provider/release.ts';
import { newestRevision } from '../../../constructs/cluster/release-revisions.ts';
import type { RequestRecord } from '../../kube/request.ts';
import { describeFleet, type Sample } from './object-metrics.ts';

/** The sources that are read at every scrape. */
export interface MetricsSources {
  /** All HostedControlPlanes. The series of a deleted one disappear. */
  readonly hostedControlPlanes: () => readonly HostedControlPlaneObject[];
  /** HostedControlPlanes that wait for a free worker. */
  readonly queueDepth: () => number;
  /** Number of running background tasks, such as uploads, checks and verifications. */
  readonly runningWork: () => number;
  /** How far the clock of the node is ahead of that of the management API server; undefined while it is not known. */
  readonly clockOffsetMs: () => number | undefined;
}

const prefix = 'hosted_control_plane';

/**
 * Metrics for Prometheus. Labels are names of objects and constants, never text from other sources, so that the number
 * of control planes limits the number of series.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #hostedControlPlanes: MetricsSources['hostedControlPlanes'];
  readonly #requests: Counter<'cluster' | 'verb' | 'code'>;
  readonly #reconciles: Histogram<'result'>;

  constructor(sources: MetricsSources) {
    const { queueDepth, runningWork, clockOffsetMs } = sources;
    this.#hostedControlPlanes = sources.hostedControlPlanes;
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: `${prefix}_api_requests_total`,
      help: 'Requests to the management cluster and to hosted clusters; the code is <error> for requests without an answer.',
      labelNames: ['cluster', 'verb', 'code'],
      registers,
    });
    this.#reconciles = new Histogram({
      name: `${prefix}_reconcile_duration_seconds`,
      help: 'Duration of one reconcile of one HostedControlPlane, by result: success or error.',
      labelNames: ['result'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    });
    this.#gauge('workqueue_depth', 'Number of HostedControlPlanes that wait for a free worker.', [], () => [
      { labels: {}, value: queueDepth() },
    ]);
    this.#gauge('background_work_running', 'Number of running background tasks, such as uploads.', [], () => [
      { labels: {}, value: runningWork() },
    ]);
    this.#gauge(
      'clock_offset_seconds',
      "How far the clock of the operator's node is ahead of the clock of the management API server.",
      [],
      // A metric without labels is 0 without a sample.
      () => [{ labels: {}, value: (clockOffsetMs() ?? NaN) / 1000 }],
    );
    this.#gauge('build_info', 'Version of the operator, with value 1.', ['version'], () => [
      { labels: { version: releaseVersion }, value: 1 },
    ]);
    this.#gauge('newest_release_revision', 'Newest release revision of the operator.', [], () => [
      { labels: {}, value: newestRevision },
    ]);
  }

  /** Content type of the text. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics, in the text format of Prometheus. */
  async text(): Promise<string> {
    return `${await this.#registry.metrics()}${describeFleet(prefix, this.#hostedControlPlanes())}`;
  }

  /** Counts a request. */
  requested(cluster: 'management' | 'hosted', { verb, code }: Pick<RequestRecord, 'verb' | 'code'>): void {
    this.#requests.inc({ cluster, verb, code: code === 0 ? '<error>' : String(code) });
  }

  /** Records a reconcile. */
  reconciled(result: 'success' | 'error', ms: number): void {
    this.#reconciles.observe({ result }, ms / 1000);
  }

  /** A metric that is computed at every scrape. */
  #gauge(name: string, help: string, labelNames: string[], samples: () => Sample[]): void {
    new Gauge({
      name: `${prefix}_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { labels, value } of samples()) this.set(labels, value);
      },
    });
  }
}
