import type { DropReason } from './target-queue.ts';

/** Counters of one receiver. */
export class TargetMetrics {
  readonly server: string;
  delivered = 0;
  readonly dropped: Record<DropReason, number> = { full: 0, refused: 0, failed: 0 };

  constructor(server: string) {
    this.server = server;
  }

  get droppedRecords(): number {
    return Object.values(this.dropped).reduce((total, count) => total + count, 0);
  }
}

export interface MetricsSource {
  readonly metrics: TargetMetrics;
  readonly waiting: { readonly bytes: number; readonly records: number };
}

/** All metrics in the text format of Prometheus. */
export function formatMetrics(sources: readonly MetricsSource[]): string {
  const samples = (value: (source: MetricsSource) => number): [string, number][] =>
    sources.map((source) => [label('server', source.metrics.server), value(source)]);
  return [
    ...metric(
      'delivered_records_total',
      'counter',
      'Audit records that the receiver has taken.',
      samples(({ metrics }) => metrics.delivered),
    ),
    ...metric(
      'dropped_records_total',
      'counter',
      'Audit records that the receiver has not got: newer ones took their place (full), it does not accept them (refused), or the only attempt failed (failed).',
      sources.flatMap(({ metrics }) =>
        Object.entries(metrics.dropped).map(([reason, count]): [string, number] => [
          `${label('server', metrics.server)},${label('reason', reason)}`,
          count,
        ]),
      ),
    ),
    ...metric(
      'queued_records',
      'gauge',
      'Audit records that wait for the receiver.',
      samples(({ waiting }) => waiting.records),
    ),
    ...metric(
      'queued_bytes',
      'gauge',
      'Size of the audit records that wait for the receiver.',
      samples(({ waiting }) => waiting.bytes),
    ),
    '',
  ].join('\n');
}

function metric(name: string, type: string, help: string, samples: readonly [labels: string, value: number][]) {
  const full = `audit_fan_out_${name}`;
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} ${type}`,
    ...samples.map(([labels, value]) => `${full}{${labels}} ${value}`),
  ];
}

function label(name: string, value: string): string {
  return `${name}="${value.replace(/[\\"]/g, '\\$&')}"`;
}
