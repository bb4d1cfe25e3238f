import type { CertificateKind, CertificateStatus } from '../../constructs/api/certificate-status.ts';

/** A certificate that was not renewed in time. */
export interface ExpiringCertificate {
  readonly kind: CertificateKind;
  readonly secret: string;
  /** When it ends, or the first of its kind. */
  readonly notAfter: string;
  /** Missing for what the user has put there. */
  readonly renewsAt?: string | undefined;
}

/**
 * Certificates of which less than 40 % of their life is left, and was not when the status was written before: the status
 * remembers what was told, also through restarts. A user's own CA is left to the condition CARotationReady, whose change
 * is an event by itself.
 */
export function newlyExpiring(
  before: readonly CertificateStatus[] = [],
  after: readonly CertificateStatus[] = [],
): ExpiringCertificate[] {
  const told = new Set(before.flatMap(({ expiring = [] }) => expiring));
  return after
    .filter(({ kind, renewsAt }) => !(kind.endsWith('CA') && renewsAt === undefined))
    .flatMap(({ kind, notAfter, renewsAt, expiring = [] }) =>
      expiring.filter((secret) => !told.has(secret)).map((secret) => ({ kind, secret, notAfter, renewsAt })),
    );
}
