import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import { isConditionType, usuallyFalse } from '../../../constructs/api/conditions.ts';
import { Quantity, quantityValue } from '../../../constructs/api/quantity.ts';
import { stateOf } from '../../reconcile/status/state.ts';
import { longestPeriodMs } from '../../backup/schedule.ts';

/** One sample of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric of every control plane. */
interface ObjectMetric {
  readonly name: string;
  readonly help: string;
  /** Undefined is no sample. Labels are besides its namespace and its name. */
  readonly values: (object: HostedControlPlaneObject) => readonly Value[];
}

type Value = readonly [value: number | undefined, labels?: Sample['labels']];

/** Times are in seconds since the epoch. What is not known of a control plane has no sample. */
const metrics: readonly ObjectMetric[] = [
  metric(
    'certificate_expiration_timestamp_seconds',
    'Time at which the first certificate of a kind expires.',
    ({ status }) => (status?.certificates ?? []).map(({ kind, notAfter }) => [seconds(notAfter), { kind }]),
  ),
  metric(
    'certificate_renewal_timestamp_seconds',
    'Time at which the operator renews that certificate; none for certificates that the user provides.',
    ({ status }) => (status?.certificates ?? []).map(({ kind, renewsAt }) => [seconds(renewsAt), { kind }]),
  ),
  metric(
    'condition',
    'Conditions, with value 1 for their current status: Ready, Available and Initialized always, the others while they are not what they usually are, so that one which the spec does not ask for proves nothing here.',
    ({ status }) => (status?.conditions ?? []).flatMap(conditionValues),
  ),
  metric(
    'state',
    'State with value 1: ready, impaired (Ready, and something else does not work), paused, hibernated, hibernating, deleting, waiting or failing.',
    ({ status }) => {
      const { kind } = stateOf(status?.conditions);
      return kind === 'unknown' ? [] : [[1, { state: kind }]];
    },
  ),
  metric('release_revision', 'Release revision by which the operator renders the control plane.', ({ status }) => [
    [status?.releaseRevision],
  ]),
  metric('info', 'Version of Kubernetes that serves, with value 1.', ({ status }) =>
    status?.version === undefined ? [] : [[1, { version: status.version }]],
  ),
  metric('last_backup_timestamp_seconds', 'Time at which the newest backup was stored.', ({ status }) => [
    [seconds(status?.etcdLastBackupTime)],
  ]),
  metric(
    'backup_period_seconds',
    'Longest time between two backups of the schedule; none without backups.',
    (object) => {
      const spec = object.spec as Scheduled | undefined;
      const { schedule, timeZone } = spec?.etcd?.backup ?? {};
      return [[schedule === undefined ? undefined : periodOf(JSON.stringify([schedule, timeZone]))]];
    },
  ),
  metric('etcd_members', 'Number of etcd members by role, such as Leader or Lost.', ({ status }) => {
    const byRole = Map.groupBy(status?.etcd?.members ?? [], ({ role }) => role);
    return [...byRole].map(([role, members]) => [members.length, { role }]);
  }),
  metric('etcd_quota_used_ratio', 'Part of its quota that the largest database of etcd uses.', ({ status }) => {
    const percent = status?.etcd?.quotaPercent;
    return [[percent === undefined ? undefined : percent / 100]];
  }),
  metric('etcd_volume_size_bytes', 'Size of the volume of each etcd member.', ({ status }) => {
    // One status that another client has broken must not cost the metrics of all others.
    const size = Quantity.safeParse(status?.etcdVolumeSize);
    return [[size.success ? quantityValue(size.data) : undefined]];
  }),
  metric('component_replicas', 'Number of pods of a component.', ({ status }) =>
    (status?.components ?? []).map(({ name: component, replicas = 0 }) => [replicas, { component }]),
  ),
  metric('component_ready_replicas', 'Number of pods of a component that are ready.', ({ status }) =>
    (status?.components ?? []).map(({ name: component, readyReplicas = 0 }) => [readyReplicas, { component }]),
  ),
];

/**
 * The metrics of all HostedControlPlanes in the text format of Prometheus. Lines of an object are computed once for each of its
 * versions: a scrape of a fleet joins them.
 */
export function describeFleet(prefix: string, objects: readonly HostedControlPlaneObject[]): string {
  const lines = objects.map((object) => linesOf(prefix, object));
  return metrics
    .map(({ name, help }, index) => {
      const series = lines.map((one) => one[index]).join('');
      return `# HELP ${prefix}_${name} ${help}\n# TYPE ${prefix}_${name} gauge\n${series}`;
    })
    .join('\n');
}

const known = new WeakMap<HostedControlPlaneObject, readonly string[]>();

/** The lines of each metric. */
function linesOf(prefix: string, object: HostedControlPlaneObject): readonly string[] {
  const before = known.get(object);
  if (before) return before;
  const { namespace = '', name } = object.metadata;
  const lines = metrics.map((metric) =>
    metric
      .values(object)
      .filter(([value]) => value !== undefined)
      .map(([value, labels]) => `${prefix}_${metric.name}{${text({ namespace, name, ...labels })}} ${value}\n`)
      .join(''),
  );
  known.set(object, lines);
  return lines;
}

function text(labels: Sample['labels']): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${value.replace(/[\\"\n]/g, escaped)}"`)
    .join(',');
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}

function metric(name: string, help: string, values: ObjectMetric['values']): ObjectMetric {
  return { name, help, values };
}

/** Conditions that a query may ask for at any time. */
const alwaysReported: readonly string[] = ['Ready', 'Available', 'Initialized'];

/**
 * One value for every status that a condition can have, 1 for the current one, or only the current one while it is unusual: fifty
 * conditions of a thousand control planes would be 17 MiB at each scrape. Conditions of other writers, which have any type, are excluded.
 */
function conditionValues({ type, status }: { readonly type: string; readonly status: string }): Value[] {
  if (!isConditionType(type)) return [];
  if (alwaysReported.includes(type))
    return ['True', 'False', 'Unknown'].map((one) => [one === status ? 1 : 0, { type, status: one }]);
  return status === (usuallyFalse.includes(type) ? 'False' : 'True') ? [] : [[1, { type, status }]];
}

interface Scheduled {
  readonly etcd?: { readonly backup?: { readonly schedule?: string; readonly timeZone?: string } };
}

/** By schedule and time zone: to compute one takes long for a scrape of a fleet. */
const periods = new Map<string, number | undefined>();
const mostPeriods = 1_000;

function periodOf(schedule: string): number | undefined {
  if (!periods.has(schedule)) {
    if (periods.size >= mostPeriods) periods.clear();
    periods.set(schedule, computedPeriod(schedule));
  }
  return periods.get(schedule);
}

function computedPeriod(schedule: string): number | undefined {
  const [expression, timeZone] = JSON.parse(schedule) as [string, string | null];
  try {
    return longestPeriodMs({ expression, timeZone: timeZone ?? undefined, identity: '' }) / 1000;
  } catch {
    return undefined;
  }
}

function seconds(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time) / 1000;
}
