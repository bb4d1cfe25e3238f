import { isConditionType } from '../../constructs/api/conditions.ts';
import type { HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import type { KubeObject } from '../kube/object.ts';

/** One sample of a metric. */
export interface Sample<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** A HostedControlPlane as the API returns it. */
export type ReportedObject = KubeObject & { readonly status?: Partial<HostedControlPlaneStatus> };

type CertificateLabel = 'namespace' | 'name' | 'kind';

/** Expiry of the first certificate of each kind, in seconds since the epoch. */
export function expirationSamples(object: ReportedObject): Sample<CertificateLabel>[] {
  return certificatesOf(object).map(({ kind, notAfter }) => ({
    labels: { ...identity(object), kind },
    value: seconds(notAfter),
  }));
}

/**
 * Renewal time of that certificate, in seconds since the epoch; none for certificates that the operator does not renew.
 */
export function renewalSamples(object: ReportedObject): Sample<CertificateLabel>[] {
  return certificatesOf(object).flatMap(({ kind, renewsAt }) =>
    renewsAt === undefined ? [] : [{ labels: { ...identity(object), kind }, value: seconds(renewsAt) }],
  );
}

/**
 * One sample for every status that a condition can have, 1 for the current one. Conditions of other writers are
 * excluded.
 */
export function conditionSamples(object: ReportedObject): Sample<'namespace' | 'name' | 'type' | 'status'>[] {
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
export function releaseRevisionSamples(object: ReportedObject): Sample<'namespace' | 'name'>[] {
  const revision = object.status?.releaseRevision;
  return revision === undefined ? [] : [{ labels: identity(object), value: revision }];
}

function certificatesOf({ status }: ReportedObject) {
  return status?.certificates ?? [];
}

function identity({ metadata: { namespace = '', name } }: KubeObject): { namespace: string; name: string } {
  return { namespace, name };
}

function seconds(time: string): number {
  return Date.parse(time) / 1000;
}
