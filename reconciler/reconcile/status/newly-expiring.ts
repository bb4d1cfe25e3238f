import type { CertificateKind, CertificateStatus } from '../../../constructs/api/certificate-status.ts';

/** A certificate that was not renewed in time. */
export interface ExpiringCertificate {
  readonly kind: CertificateKind;
  readonly secret: string;
  /** Time at which the first certificate of its kind expires. */
  readonly notAfter: string;
  /** Missing for certificates that the user provides. */
  readonly renewsAt?: string | undefined;
}

/**
 * Certificates that have less than 40 % of their lifetime left, and were not reported in the previous status. The
 * status records what was reported, also across restarts. A user's own CA is reported by the condition CARotationReady,
 * whose transition is an event.
 */
export function newlyExpiring(
  before: readonly CertificateStatus[] = [],
  after: readonly CertificateStatus[] = [],
): ExpiringCertificate[] {
  const reported = new Set(before.flatMap(({ expiring = [] }) => expiring));
  return after
    .filter(({ kind, renewsAt }) => !(kind.endsWith('CA') && renewsAt === undefined))
    .flatMap(({ kind, notAfter, renewsAt, expiring = [] }) =>
      expiring.filter((secret) => !reported.has(secret)).map((secret) => ({ kind, secret, notAfter, renewsAt })),
    );
}
