import type { HostedControlPlaneSpec } from './hosted-control-plane.ts';

/** Fields that are accepted although nothing reads them yet, and how a spec shows that it uses one. */
const fields: Readonly<Record<string, (spec: HostedControlPlaneSpec) => unknown>> = {
  oidcProviders: (spec) => spec.oidcProviders,
};

/** Every field without effect in this release. A test changes each field of the API, and fails for any other one. */
export const fieldsWithoutEffect: readonly string[] = Object.keys(fields);

/** The fields of this spec that have no effect in this release. */
export function usedWithoutEffect(spec: HostedControlPlaneSpec): string[] {
  return fieldsWithoutEffect.filter((field) => fields[field]?.(spec) !== undefined);
}
