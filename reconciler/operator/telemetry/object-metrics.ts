import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import { isConditionType } from '../../../constructs/api/conditions.ts';
import { Quantity, quantityValue } from '../../../constructs/api/quantity.ts';
import { longestPeriodMs } from '../../backup/schedule.ts';
import type { KubeObject } from '../../kube/object.ts';

/** One sample of a metric. */
export interface Sample<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

type CertificateLabel = 'namespace' | 'name' | 'kind';

/** Expiry of the first certificate of each kind, in seconds since the epoch. */
export function expirationSamples(object: HostedControlPlaneObject): Sample<CertificateLabel>[] {
  return certificatesOf(object).map(({ kind, notAfter }) => ({
    labels: { ...identity(object), kind },
    value: seconds(notAfter),
  }));
}

/**
 * Renewal time of that certificate, in seconds since the epoch; none for certificates that the operator does not renew.
 */
export function renewalSamples(object: HostedControlPlaneObject): Sample<CertificateLabel>[] {
  return certificatesOf(object).flatMap(({ kind, renewsAt }) =>
    renewsAt === undefined ? [] : [{ labels: { ...identity(object), kind }, value: seconds(renewsAt) }],
  );
}

/**
 * One sample for every status that a condition can have, 1 for the current one. Conditions of other writers are
 * excluded.
 */
export function conditionSamples(object: HostedControlPlaneObject): Sample<'namespace' | 'name' | 'type' | 'status'>[] {
  const conditions = object.status?.conditions ?? [];
  return conditions
    .filter(({ type }) => isConditionType(type))
    .flatMap(({ type, status }) =>
      (['True', 'False', 'Unknown'] as const).map((value) => ({
        labels: { ...identity(object), type, status: value },
        value: value === status ? 1 : 0,
      })),
    );
}

/** Release revision by which each control plane is rendered. */
export function releaseRevisionSamples(object: HostedControlPlaneObject): Sample<'namespace' | 'name'>[] {
  const revision = object.status?.releaseRevision;
  return revision === undefined ? [] : [{ labels: identity(object), value: revision }];
}

/** Time of the newest backup, in seconds since the epoch; none before the first one. */
export function lastBackupSamples(object: HostedControlPlaneObject): Sample<'namespace' | 'name'>[] {
  const time = object.status?.etcdLastBackupTime;
  return time === undefined ? [] : [{ labels: identity(object), value: seconds(time) }];
}

/** The longest time between two backups of the schedule, in seconds; none without backups, or for a schedule that never occurs. */
export function backupPeriodSamples(object: HostedControlPlaneObject): Sample<'namespace' | 'name'>[] {
  const spec = object.spec as Scheduled | undefined;
  const { schedule: expression, timeZone } = spec?.etcd?.backup ?? {};
  const period = expression === undefined ? undefined : periodOf(JSON.stringify([expression, timeZone]));
  return period === undefined ? [] : [{ labels: identity(object), value: period }];
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
export function etcdMemberSamples(object: HostedControlPlaneObject): Sample<'namespace' | 'name' | 'role'>[] {
  const members = object.status?.etcd?.members ?? [];
  return [...new Set(members.map(({ role }) => role))].map((role) => ({
    labels: { ...identity(object), role },
    value: members.filter((member) => member.role === role).length,
  }));
}

/** How much of etcd's quota the largest database uses, from 0 to 1. */
export function etcdQuotaSamples(object: HostedControlPlaneObject): Sample<'namespace' | 'name'>[] {
  const sixteenths = object.status?.etcd?.quotaSixteenths;
  return sixteenths === undefined ? [] : [{ labels: identity(object), value: sixteenths / 16 }];
}

/** Size of the volume of each etcd member, in bytes. */
export function etcdVolumeSamples(object: HostedControlPlaneObject): Sample<'namespace' | 'name'>[] {
  // One status that another client has broken must not cost the metrics of all others.
  const size = Quantity.safeParse(object.status?.etcdVolumeSize);
  return size.success ? [{ labels: identity(object), value: quantityValue(size.data) }] : [];
}

/** Number of pods of each component, all of them or the ready ones. */
export function componentSamples(
  object: HostedControlPlaneObject,
  count: 'replicas' | 'readyReplicas',
): Sample<'namespace' | 'name' | 'component'>[] {
  return (object.status?.components ?? []).map(({ name: component, [count]: value = 0 }) => ({
    labels: { ...identity(object), component },
    value,
  }));
}

/** Version of Kubernetes of each control plane, as a label. */
export function infoSamples(object: HostedControlPlaneObject): Sample<'namespace' | 'name' | 'version'>[] {
  const version = object.status?.version;
  return version === undefined ? [] : [{ labels: { ...identity(object), version }, value: 1 }];
}

function certificatesOf({ status }: HostedControlPlaneObject) {
  return status?.certificates ?? [];
}

function identity({ metadata: { namespace = '', name } }: KubeObject): { namespace: string; name: string } {
  return { namespace, name };
}

function seconds(time: string): number {
  return Date.parse(time) / 1000;
}
