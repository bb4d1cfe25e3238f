import type { HostedControlPlane } from '../../../../constructs/api/hosted-control-plane.ts';

/** What was observed longer ago may not hold any more. */
const validMs = 5 * 60_000;

/** Whether the checks before an upgrade to the version of the spec have succeeded, recently enough to begin. */
export function hasPassed({ spec, status }: Pick<HostedControlPlane, 'spec' | 'status'>, now: Date): boolean {
  const { version, succeeded = '' } = status?.preflight ?? {};
  return version === spec.version && now.getTime() - Date.parse(succeeded) < validMs;
}
