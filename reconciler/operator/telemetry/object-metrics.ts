import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import { isConditionType, usuallyFalse } from '../../../constructs/api/conditions.ts';
import { Quantity, quantityValue } from '../../../constructs/api/quantity.ts';
import { longestPeriodMs } from '../../backup/schedule.ts';

/** One sample of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric of every HostedControlPlane. Each sample also has the labels namespace and name. */
interface ObjectMetric {
  readonly name: string;
  readonly help: string;
  readonly samples: (object: HostedControlPlaneObject) => readonly Sample[];
}

const metrics: readonly ObjectMetric[] = [
  {
    name: 'certificate_expiration_timestamp_seconds',
    help: 'Time at which the first certificate of a kind expires.',
    samples: expirationSamples,
  },
  {
    name: 'certificate_renewal_timestamp_seconds',
    help: 'Time at which the operator renews that certificate; none for certificates that the user provides.',
    samples: renewalSamples,
  },
  {
    name: 'condition',
    help: 'Conditions, with value 1 for their current status: Ready, Available and Initialized always, the others while they are not what they usually are.',
    samples: conditionSamples,
  },
  {
    name: 'release_revision',
    help: 'Release revision by which the operator renders the control plane.',
    samples: ({ status }) => one(status?.releaseRevision),
  },
  { name: 'info', help: 'Version of Kubernetes that serves, with value 1.', samples: infoSamples },
  {
    name: 'last_backup_timestamp_seconds',
    help: 'Time at which the newest backup was stored.',
    samples: ({ status }) => one(status?.etcdLastBackupTime, seconds),
  },
  {
    name: 'backup_period_seconds',
    help: 'Longest time between two backups of the schedule; none without backups.',
    samples: backupPeriodSamples,
  },
  {
    name: 'etcd_members',
    help: 'Number of etcd members by role, such as Leader or Lost.',
    samples: etcdMemberSamples,
  },
  {
    name: 'etcd_quota_used_ratio',
    help: 'Part of its quota that the largest database of etcd uses, in sixteenths.',
    samples: ({ status }) => one(status?.etcd?.quotaSixteenths, (sixteenths) => sixteenths / 16),
  },
  { name: 'etcd_volume_size_bytes', help: 'Size of the volume of each etcd member.', samples: etcdVolumeSamples },
  {
    name: 'component_replicas',
    help: 'Number of pods of a component.',
    samples: (object) => componentSamples(object, 'replicas'),
  },
  {
    name: 'component_ready_replicas',
    help: 'Number of pods of a component that are ready.',
    samples: (object) => componentSamples(object, 'readyReplicas'),
  },
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
      .samples(object)
      .map(({ labels, value }) => `${prefix}_${metric.name}{${text({ namespace, name, ...labels })}} ${value}\n`)
      .join(''),
  );
  known.set(object, lines);
  return lines;
}

function text(labels: Sample['labels']): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${String(value).replace(/[\\"\n]/g, escaped)}"`)
    .join(',');
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}

/** The only sample of a metric; none without a value. */
function one<T = number>(value: T | undefined, of: (value: T) => number = Number): Sample[] {
  return value === undefined ? [] : [{ labels: {}, value: of(value) }];
}

/** Expiry of the first certificate of each kind, in seconds since the epoch. */
function expirationSamples(object: HostedControlPlaneObject): Sample[] {
  return certificatesOf(object).map(({ kind, notAfter }) => ({
    labels: { kind },
    value: seconds(notAfter),
  }));
}

/**
 * Renewal time of that certificate, in seconds since the epoch; none for certificates that the operator does not renew.
 */
function renewalSamples(object: HostedControlPlaneObject): Sample[] {
  return certificatesOf(object).flatMap(({ kind, renewsAt }) =>
    renewsAt === undefined ? [] : [{ labels: { kind }, value: seconds(renewsAt) }],
  );
}

/** Conditions that a query may ask for at any time. */
const alwaysReported: readonly string[] = ['Ready', 'Available', 'Initialized'];

/**
 * One sample for every status that a condition can have, 1 for the current one, or only the current one while it is unusual: fifty
 * conditions of a thousand control planes would be 17 MiB at each scrape. Conditions of other writers are excluded.
 */
function conditionSamples({ status: reported }: HostedControlPlaneObject): Sample[] {
  return (reported?.conditions ?? []).flatMap(({ type, status }) => {
    if (!isConditionType(type)) return [];
    if (alwaysReported.includes(type))
      return ['True', 'False', 'Unknown'].map((value) => ({
        labels: { type, status: value },
        value: value === status ? 1 : 0,
      }));
    const usual = usuallyFalse.includes(type) ? 'False' : 'True';
    return status === usual ? [] : [{ labels: { type, status }, value: 1 }];
  });
}

/** The longest time between two backups of the schedule, in seconds; none without backups, or for a schedule that never occurs. */
function backupPeriodSamples(object: HostedControlPlaneObject): Sample[] {
  const spec = object.spec as Scheduled | undefined;
  const { schedule: expression, timeZone } = spec?.etcd?.backup ?? {};
  const period = expression === undefined ? undefined : periodOf(JSON.stringify([expression, timeZone]));
  return period === undefined ? [] : [{ labels: {}, value: period }];
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

/** Number of etcd members in each role. */
function etcdMemberSamples(object: HostedControlPlaneObject): Sample[] {
  const members = object.status?.etcd?.members ?? [];
  return [...new Set(members.map(({ role }) => role))].map((role) => ({
    labels: { role },
    value: members.filter((member) => member.role === role).length,
  }));
}

/** Size of the volume of each etcd member, in bytes. */
function etcdVolumeSamples(object: HostedControlPlaneObject): Sample[] {
  // One status that another client has broken must not cost the metrics of all others.
  const size = Quantity.safeParse(object.status?.etcdVolumeSize);
  return size.success ? [{ labels: {}, value: quantityValue(size.data) }] : [];
}

/** Number of pods of each component, all of them or the ready ones. */
function componentSamples(object: HostedControlPlaneObject, count: 'replicas' | 'readyReplicas'): Sample[] {
  return (object.status?.components ?? []).map(({ name: component, [count]: value = 0 }) => ({
    labels: { component },
    value,
  }));
}

/** Version of Kubernetes of each control plane, as a label. */
function infoSamples(object: HostedControlPlaneObject): Sample[] {
  const version = object.status?.version;
  return version === undefined ? [] : [{ labels: { version }, value: 1 }];
}

function certificatesOf({ status }: HostedControlPlaneObject) {
  return status?.certificates ?? [];
}

function seconds(time: string): number {
  return Date.parse(time) / 1000;
}
