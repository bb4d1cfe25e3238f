import { z } from 'zod';
import { Duration, durationSeconds } from './duration.ts';
import { withRules } from './validation-rule.ts';

const defaultCASeconds = 87_600 * 3600;
const defaultLeafSeconds = 8_760 * 3600;

const floor = (hours: number, message: string) => ({
  rule: `duration(self) >= duration('${hours}h')`,
  message,
  holds: (value: string) => durationSeconds(value) >= hours * 3600,
});

const caDuration = withRules(Duration, [
  floor(24, 'a CA must live at least 24h, or clients could not learn about its successor in time'),
]);

const leafDuration = withRules(Duration, [
  floor(1, 'a certificate must live at least 1h, or a short outage of the provider would let it expire'),
]);

const shorterLeaf = (ca: 'rootCaCertificateDuration' | 'caCertificateDuration') => ({
  rule: `!has(self.leafCertificateDuration) || duration(self.leafCertificateDuration) < (has(self.${ca}) ? duration(self.${ca}) : duration('87600h'))`,
  message: `leafCertificateDuration must be shorter than ${ca}, which is 87600h when unset`,
  holds: (value: CertificateDurations) =>
    value.leafCertificateDuration === undefined ||
    durationSeconds(value.leafCertificateDuration) < seconds(value[ca], defaultCASeconds),
});

/**
 * Renewed with 40 to 50 % of its life left, and after 420 hours that is a week at the least: as long as the provider can be away
 * over a holiday without anybody noticing.
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
    .describe(`Any text. Change it to replace ${what}; taken back while trust is being distributed, that ends.`);

/** Requests for new authorities and keys. */
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
        'Any text. Change it to sign the tokens of service accounts with a new key; tokens of the old one are accepted until the last of them has expired, after a year unless arguments of the API server shorten their life. Taken back before the new key signs, that ends. Keys do not age: without a request none is replaced.',
      ),
  })
  .describe('Requests to replace authorities and keys before their time, without an interruption.');

/** Who signs the authorities. */
export const IssuerRef = z
  .object({
    name: z.string().min(1).max(253).describe('Name of the issuer.'),
    kind: z
      .string()
      .min(1)
      .max(63)
      .default('Issuer')
      .describe('Issuer, in the namespace of the control plane, or ClusterIssuer.'),
    group: z.string().min(1).max(253).default('cert-manager.io').describe('API group of the issuer.'),
  })
  .describe('An issuer of cert-manager.');
export type IssuerRef = z.output<typeof IssuerRef>;

/** How long certificates live, and who signs them. */
export const Certificates = withRules(
  z.object({
    rootCaCertificateDuration: caDuration
      .optional()
      .describe('Lifetime of the CA of the cluster, at least 24h. 87600h, ten years, when unset.'),
    caCertificateDuration: caDuration
      .optional()
      .describe(
        'Lifetime of the CAs of etcd and of the front proxy, at least 24h. As rootCaCertificateDuration when unset, but no longer than 87600h.',
      ),
    leafCertificateDuration: leafDuration
      .optional()
      .describe(
        `Lifetime of every other certificate, at least ${shortestLeafHours}h, or 1h with shortLived. 8760h, one year, when unset, but no longer than half the lifetime of its CA. Certificates are renewed when half of it has passed.`,
      ),
    shortLived: z
      .boolean()
      .optional()
      .describe(
        `Allows a leafCertificateDuration below ${shortestLeafHours}h. Such certificates are renewed less than a week before they end: the provider must not be away for longer than that.`,
      ),
    rotation: Rotation.optional(),
    issuerRef: IssuerRef.optional().describe(
      'An issuer of cert-manager that signs the CAs. Keys are made and kept here; only signing requests leave. What is trusted is each CA itself and never its issuer: whoever has another certificate of that issuer stays a stranger. A CA that is there stays until its next rotation when this changes. Each CA signs itself when unset.',
    ),
  }),
  [
    {
      rule: "!has(self.caCertificateDuration) || duration(self.caCertificateDuration) <= (has(self.rootCaCertificateDuration) ? duration(self.rootCaCertificateDuration) : duration('87600h'))",
      message: 'caCertificateDuration must not be longer than rootCaCertificateDuration, which is 87600h when unset',
      holds: (value) =>
        seconds(value.caCertificateDuration, 0) <= seconds(value.rootCaCertificateDuration, defaultCASeconds),
    },
    shorterLeaf('rootCaCertificateDuration'),
    shorterLeaf('caCertificateDuration'),
    {
      rule: `!has(self.leafCertificateDuration) || (has(self.shortLived) && self.shortLived) || duration(self.leafCertificateDuration) >= duration('${shortestLeafHours}h')`,
      message: `leafCertificateDuration must be at least ${shortestLeafHours}h, so that a week is left at every renewal, or shortLived must be true`,
      holds: ({ leafCertificateDuration, shortLived }) =>
        leafCertificateDuration === undefined ||
        shortLived === true ||
        durationSeconds(leafCertificateDuration) >= shortestLeafHours * 3600,
    },
  ],
);

/** Lifetimes in seconds after defaults. */
export interface CertificateLifetimes {
  /** Of the CA of the cluster. */
  readonly rootCASeconds: number;
  /** Of the CAs of etcd, front proxy and everything else that is not the cluster's own. */
  readonly caSeconds: number;
  /** Of every certificate that is no CA. */
  readonly leafSeconds: number;
}

/** The lifetimes a spec asks for. Unset ones follow the set ones, so that setting one field is never a contradiction. */
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
