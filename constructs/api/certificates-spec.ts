import { z } from 'zod';
import { Duration, durationSeconds, ifDurations } from './duration.ts';
import { objectName } from './object-name.ts';
import { withRules } from './validation-rule.ts';

const defaultCASeconds = 87_600 * 3600;
const defaultLeafSeconds = 8_760 * 3600;

const floor = (hours: number, message: string) => ({
  rule: ifDurations(['self'], `duration(self) >= duration('${hours}h')`),
  message,
  holds: (value: string) => durationSeconds(value) >= hours * 3600,
});

const caDuration = withRules(Duration, [
  floor(24, 'the lifetime of a CA must be at least 24h, so that clients trust its successor in time'),
]);

const leafDuration = withRules(Duration, [
  floor(
    1,
    'the lifetime of a certificate must be at least 1h, so that it does not expire during a short outage of the operator',
  ),
]);

const shorterLeaf = (ca: 'rootCaCertificateDuration' | 'caCertificateDuration') => ({
  rule: ifDurations(
    ['self.leafCertificateDuration', `self.${ca}`],
    `!has(self.leafCertificateDuration) || duration(self.leafCertificateDuration) < (has(self.${ca}) ? duration(self.${ca}) : duration('87600h'))`,
  ),
  message: `leafCertificateDuration must be shorter than ${ca}, which is 87600h when unset`,
  holds: (value: CertificateDurations) =>
    value.leafCertificateDuration === undefined ||
    durationSeconds(value.leafCertificateDuration) < seconds(value[ca], defaultCASeconds),
});

/**
 * The operator renews a certificate with 40 to 50 % of its lifetime left. After 420 hours that is at least a week: the
 * operator can be down over a holiday without consequences.
 */
const shortestLeafHours = 420;

interface CertificateDurations {
  readonly rootCaCertificateDuration?: string | undefined;
  readonly caCertificateDuration?: string | undefined;
  readonly leafCertificateDuration?: string | undefined;
}

const request = (what: string) =>
  z
    .string()
    .max(128)
    .optional()
    .describe(
      `Any text. Change it to replace ${what}. To cancel the rotation, restore the previous text while trust is still being distributed.`,
    );

/** Requests for new CAs and keys. */
export const Rotation = z
  .object({
    clusterCA: request('the CA of the cluster'),
    etcdCA: request('the CA of etcd'),
    proxyCA: request('the CA of the front proxy'),
    serviceAccountKey: z
      .string()
      .max(128)
      .optional()
      .describe(
        'Any text. Change it to sign service account tokens with a new key. The API servers accept tokens of the old key until the last of them has expired, which takes a year unless arguments of the API server shorten their lifetime. To cancel the rotation, restore the previous text before the new key signs. Keys do not expire: without a request none is replaced.',
      ),
  })
  .describe('Requests to replace CAs and keys before they expire, without an interruption.');

/** The issuer that signs the CAs. */
export const IssuerRef = z
  .object({
    name: objectName().describe('Name of the issuer.'),
    kind: z
      .string()
      .max(63)
      .regex(/^[A-Z][A-Za-z0-9]*$/, 'must be a kind, such as Issuer or ClusterIssuer')
      .default('Issuer')
      .describe(
        'Kind of the issuer: Issuer, in the namespace of the control plane, or one that the platform lists for the namespace, such as ClusterIssuer.',
      ),
    group: objectName().default('cert-manager.io').describe('API group of the issuer.'),
  })
  .describe('A reference to an issuer of cert-manager.');
export type IssuerRef = z.output<typeof IssuerRef>;

/** Lifetimes, issuer and rotation of certificates. */
export const Certificates = withRules(
  z.object({
    rootCaCertificateDuration: caDuration
      .optional()
      .describe('Lifetime of the cluster CA, at least 24h; 87600h, ten years, when unset.'),
    caCertificateDuration: caDuration
      .optional()
      .describe(
        'Lifetime of the CAs of etcd and of the front proxy, at least 24h; rootCaCertificateDuration when unset, but at most 87600h.',
      ),
    leafCertificateDuration: leafDuration
      .optional()
      .describe(
        `Lifetime of every leaf certificate, at least ${shortestLeafHours}h, or 1h with shortLived; 8760h, one year, when unset, but at most half the lifetime of its CA. The operator renews a certificate after half of its lifetime.`,
      ),
    shortLived: z
      .boolean()
      .optional()
      .describe(
        `Allow a leafCertificateDuration below ${shortestLeafHours}h. The operator renews such certificates less than a week before they expire, and must not be down for longer than that.`,
      ),
    rotation: Rotation.optional(),
    issuerRef: IssuerRef.optional().describe(
      'Issuer of cert-manager that signs the CAs; every CA is self-signed when unset. The operator generates and keeps the keys; only signing requests leave the namespace. Components trust the CA itself and never its issuer, so other certificates of that issuer are not accepted. A change does not affect an existing CA before its next rotation.',
    ),
  }),
  [
    {
      rule: ifDurations(
        ['self.caCertificateDuration', 'self.rootCaCertificateDuration'],
        "!has(self.caCertificateDuration) || duration(self.caCertificateDuration) <= (has(self.rootCaCertificateDuration) ? duration(self.rootCaCertificateDuration) : duration('87600h'))",
      ),
      message: 'caCertificateDuration must not be longer than rootCaCertificateDuration, which is 87600h when unset',
      holds: (value) =>
        seconds(value.caCertificateDuration, 0) <= seconds(value.rootCaCertificateDuration, defaultCASeconds),
    },
    shorterLeaf('rootCaCertificateDuration'),
    shorterLeaf('caCertificateDuration'),
    {
      rule: ifDurations(
        ['self.leafCertificateDuration'],
        `!has(self.leafCertificateDuration) || (has(self.shortLived) && self.shortLived) || duration(self.leafCertificateDuration) >= duration('${shortestLeafHours}h')`,
      ),
      message: `leafCertificateDuration must be at least ${shortestLeafHours}h, so that a week is left at every renewal: choose a longer one, or set shortLived: true`,
      holds: ({ leafCertificateDuration, shortLived }) =>
        leafCertificateDuration === undefined ||
        shortLived === true ||
        durationSeconds(leafCertificateDuration) >= shortestLeafHours * 3600,
    },
  ],
);

/** Lifetimes in seconds, with defaults filled in. */
export interface CertificateLifetimes {
  /** Of the cluster CA. */
  readonly rootCASeconds: number;
  /** Of the CAs of etcd and of the front proxy, and of every other CA besides the cluster CA. */
  readonly caSeconds: number;
  /** Of every leaf certificate. */
  readonly leafSeconds: number;
}

/**
 * The lifetimes that a spec asks for. Defaults of unset fields depend on the fields that are set, so that a single
 * field never contradicts the defaults.
 */
export function certificateLifetimes(certificates: CertificateDurations): CertificateLifetimes {
  const rootCASeconds = seconds(certificates.rootCaCertificateDuration, defaultCASeconds);
  const caSeconds = seconds(certificates.caCertificateDuration, Math.min(rootCASeconds, defaultCASeconds));
  const leafSeconds = seconds(
    certificates.leafCertificateDuration,
    Math.min(defaultLeafSeconds, rootCASeconds / 2, caSeconds / 2),
  );
  return { rootCASeconds, caSeconds, leafSeconds };
}

const seconds = (duration: string | undefined, fallback: number) =>
  duration === undefined ? fallback : durationSeconds(duration);
