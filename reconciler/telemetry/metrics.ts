import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestRecord } from '../kube/request.ts';
import {
  conditionSamples,
  expirationSamples,
  renewalSamples,
  type ReportedObject,
  type Sample,
} from './object-metrics.ts';

/** What is looked at when somebody scrapes. */
export interface MetricsSources {
  /** Every HostedControlPlane there is: what goes takes its series along. */
  readonly hostedControlPlanes: () => readonly ReportedObject[];
  /** HostedControlPlanes that wait for a free worker. */
  readonly queueDepth: () => number;
  /** Uploads, checks, trial restores and the like that run beside the queue. */
  readonly runningWork: () => number;
}

const prefix = 'hosted_control_plane';

/**
 * What Prometheus is told. Labels are names of objects and words of ours, and never text from anywhere else, so that the
 * number of series is bounded by the number of control planes.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'cluster' | 'verb' | 'code'>;
  readonly #reconciles: Histogram<'result'>;

  constructor(sources: MetricsSources) {
    const { hostedControlPlanes, queueDepth, runningWork } = sources;
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: `${prefix}_api_requests_total`,
      help: 'Requests to the management cluster and to hosted clusters; the code is <error> where no answer came.',
      labelNames: ['cluster', 'verb', 'code'],
      registers,
    });
    this.#reconciles = new Histogram({
      name: `${prefix}_reconcile_duration_seconds`,
      help: 'How long one pass over one HostedControlPlane took, by how it ended: success or error.',
      labelNames: ['result'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    });
    this.#gauge('workqueue_depth', 'HostedControlPlanes that wait for a free worker.', [], () => [
      { labels: {}, value: queueDepth() },
    ]);
    this.#gauge('background_work_running', 'Slow work that runs now, such as uploads.', [], () => [
      { labels: {}, value: runningWork() },
    ]);
    this.#gauge(
      'certificate_expiration_timestamp_seconds',
      'When the first certificate of a kind ends.',
      ['namespace', 'name', 'kind'],
      () => hostedControlPlanes().flatMap(expirationSamples),
    );
    this.#gauge(
      'certificate_renewal_timestamp_seconds',
      'When that certificate is renewed; none for what the user has put there.',
      ['namespace', 'name', 'kind'],
      () => hostedControlPlanes().flatMap(renewalSamples),
    );
    this.#gauge('condition', 'Conditions, 1 for the status they have.', ['namespace', 'name', 'type', 'status'], () =>
      hostedControlPlanes().flatMap(conditionSamples),
    );
  }

  /** Type of the text, for whoever serves it. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Everything, in Prometheus' own format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Counts a request. */
  requested(cluster: 'management' | 'hosted', { verb, code }: Pick<RequestRecord, 'verb' | 'code'>): void {
    this.#requests.inc({ cluster, verb, code: code === 0 ? '<error>' : String(code) });
  }

  /** Counts a pass that has ended. */
  reconciled(result: 'success' | 'error', ms: number): void {
    this.#reconciles.observe({ result }, ms / 1000);
  }

  /** A metric that is made anew at every scrape. */
  #gauge<Label extends string>(name: string, help: string, labelNames: Label[], samples: () => Sample<Label>[]): void {
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
