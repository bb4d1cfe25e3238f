import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import { isConditionType } from '../../../constructs/api/conditions.ts';
import { Quantity, quantityValue } from '../../../constructs/api/quantity.ts';
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
  /** Besides its namespace and its name. */
  readonly labels: readonly string[];
  readonly samples: (object: HostedControlPlaneObject) => readonly Sample[];
}

/** Times are in seconds since the epoch. What is not known of a control plane has no sample. */
export const objectMetrics: readonly ObjectMetric[] = [
  metric(
    'certificate_expiration_timestamp_seconds',
    'Time at which the first certificate of a kind expires.',
    ['kind'],
    ({ status }) => (status?.certificates ?? []).map(({ kind, notAfter }) => [seconds(notAfter), { kind }]),
  ),
  metric(
    'certificate_renewal_timestamp_seconds',
    'Time at which the operator renews that certificate; none for certificates that the user provides.',
    ['kind'],
    ({ status }) => (status?.certificates ?? []).map(({ kind, renewsAt }) => [seconds(renewsAt), { kind }]),
  ),
  metric('condition', 'Conditions, with value 1 for their current status.', ['type', 'status'], ({ status }) => {
    // Other writers have conditions of any type.
    const conditions = (status?.conditions ?? []).filter(({ type }) => isConditionType(type));
    return conditions.flatMap(({ type, status: current }) =>
      (['True', 'False', 'Unknown'] as const).map((one): Value<'type' | 'status'> => [
        one === current ? 1 : 0,
        { type, status: one },
      ]),
    );
  }),
  metric('release_revision', 'Release revision by which the operator renders the control plane.', [], ({ status }) => [
    [status?.releaseRevision, {}],
  ]),
  metric('info', 'Version of Kubernetes that serves, with value 1.', ['version'], ({ status }) =>
    status?.version === undefined ? [] : [[1, { version: status.version }]],
  ),
  metric('last_backup_timestamp_seconds', 'Time at which the newest backup was stored.', [], ({ status }) => [
    [seconds(status?.etcdLastBackupTime), {}],
  ]),
  metric(
    'backup_period_seconds',
    'Longest time between two backups of the schedule; none without backups.',
    [],
    (object) => {
      const spec = object.spec as Scheduled | undefined;
      const { schedule, timeZone } = spec?.etcd?.backup ?? {};
      return [[schedule === undefined ? undefined : periodOf(JSON.stringify([schedule, timeZone])), {}]];
    },
  ),
  metric('etcd_members', 'Number of etcd members by role, such as Leader or Lost.', ['role'], ({ status }) => {
    const byRole = Map.groupBy(status?.etcd?.members ?? [], ({ role }) => role);
    return [...byRole].map(([role, members]) => [members.length, { role }]);
  }),
  metric(
    'etcd_quota_used_ratio',
    'Part of its quota that the largest database of etcd uses, in sixteenths.',
    [],
    ({ status }) => {
      const sixteenths = status?.etcd?.quotaSixteenths;
      return [[sixteenths === undefined ? undefined : sixteenths / 16, {}]];
    },
  ),
  metric('etcd_volume_size_bytes', 'Size of the volume of each etcd member.', [], ({ status }) => {
    // One status that another client has broken must not cost the metrics of all others.
    const size = Quantity.safeParse(status?.etcdVolumeSize);
    return [[size.success ? quantityValue(size.data) : undefined, {}]];
  }),
  metric('component_replicas', 'Number of pods of a component.', ['component'], ({ status }) =>
    (status?.components ?? []).map(({ name: component, replicas = 0 }) => [replicas, { component }]),
  ),
  metric('component_ready_replicas', 'Number of pods of a component that are ready.', ['component'], ({ status }) =>
    (status?.components ?? []).map(({ name: component, readyReplicas = 0 }) => [readyReplicas, { component }]),
  ),
];

/** The value of a sample, undefined for none, with its labels besides those of the control plane. */
type Value<Label extends string> = readonly [value: number | undefined, labels: Readonly<Record<Label, string>>];

function metric<Label extends string = never>(
  name: string,
  help: string,
  labels: readonly Label[],
  valuesOf: (object: HostedControlPlaneObject) => readonly Value<Label>[],
): ObjectMetric {
  return {
    name,
    help,
    labels,
    samples: (object) => {
      const { namespace = '', name: of } = object.metadata;
      return valuesOf(object).flatMap(([value, own]) =>
        value === undefined ? [] : [{ labels: { namespace, name: of, ...own }, value }],
      );
    },
  };
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
