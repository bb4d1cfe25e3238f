import type { SecretObject } from '../../imports/kubernetes.ts';
import { certificateLifetimes } from '../../constructs/api/certificates-spec.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { requireRightClock } from '../engine/clock-wrong.ts';
import { done, type Outcome } from '../engine/outcome.ts';
import { noting } from '../engine/refusals.ts';
import { issueCertificate, type KeyPair, validFor } from '../pki/issue.ts';
import { isKeyOf, isReadable, readCertificate } from '../pki/certificate.ts';
import { crossKey, validChain } from '../pki/cross-certificate.ts';
import { fingerprint, splitCertificates } from '../pki/pem.ts';
import {
  type CAName,
  type CertificatePlan,
  planCAs,
  planCertificates,
  planEtcdCertificates,
} from '../../constructs/control-plane/certificates/certificate-plans.ts';
import { mustIssue, renewalTime } from '../pki/reissue-policy.ts';
import { leafSecret, pairOf, valueOf } from '../pki/secret.ts';
import { phase, type Scope } from './scope.ts';
import { caCertificates } from './ca-certificates.ts';
import { endpoint } from './endpoint.ts';
import { secretProps } from '../certificates/secret-props.ts';

/** etcd's certificates. They do not need the endpoint, so that etcd starts while a load balancer is provisioned. */
export const etcdCertificates = phase({
  condition: 'EtcdCertificatesReady',
  needs: [caCertificates],
  run: (scope) => issueAll(scope, planEtcdCertificates(scope.cluster)),
});

/** Every other certificate that has its own Secret. */
export const certificates = phase({
  condition: 'CertificatesReady',
  needs: [caCertificates, endpoint],
  run: (scope) =>
    issueAll(
      scope,
      planCertificates(
        scope.cluster,
        scope.facts.endpoint,
        scope.facts.konnectivityEndpoint,
        scope.facts.tunnelEndpoint,
      ),
    ),
});

async function issueAll(scope: Scope, plans: readonly CertificatePlan[]): Promise<Outcome> {
  const pairs = await Promise.all(
    plans.map(async (plan) => {
      const current = leafOf(pairOf(scope.reader.get<SecretObject>(Secret, plan.secret)));
      return [plan, await issueIfDue(scope, plan, current)] as const;
    }),
  );

  const refused = new Map<string, Error>();
  const onRefused = noting(scope, ({ metadata }, error) => refused.set(metadata.name, error));
  const live = await scope.writer.apply<SecretObject>(
    pairs.map(([{ secret, signer }, pair]) => leafSecret(secretProps(scope, secret), pair, chainOf(scope, signer))),
    { onRefused },
  );
  const stored = pairs.map(([{ secret }, pair]): readonly [secret: string, certificate: string] => {
    const refusal = refused.get(secret);
    if (!refusal) return [secret, pair.certificate];
    // Components go on with the certificate that they have: one that is not stored must not restart them.
    const present = leafOf(pairOf(live.find(({ metadata }) => metadata.name === secret)));
    if (!present) throw refusal;
    return [secret, present.certificate];
  });

  return done(
    {
      // The fingerprint of the certificate only: a change of its chain does not require a restart.
      certificates: Object.fromEntries(stored.map(([secret, certificate]) => [secret, fingerprint(certificate)])),
    },
    earliest([
      ...stored
        .filter(([secret]) => !refused.has(secret))
        .map(([secret, certificate]) => renewalTime(certificate, secret)),
      ...pairs.flatMap(([{ signer }]) => chainOf(scope, signer).chain.map((cross) => readCertificate(cross).notAfter)),
    ]),
  );
}

/** The pair without its certificate chain. */
function leafOf(pair: KeyPair | undefined): KeyPair | undefined {
  return pair && { ...pair, certificate: splitCertificates(pair.certificate)[0] ?? '' };
}

/** The CA that signs, and the chain with which clients verify it that trust only its predecessors. */
function chainOf(scope: Scope, name: CAName): { readonly signer: string; readonly chain: readonly string[] } {
  const secret = scope.reader.get<SecretObject>(Secret, caSecret(scope, name));
  const [signer = ''] = splitCertificates(caPair(scope, name).certificate);
  return { signer, chain: validChain(valueOf(secret, crossKey) ?? '', scope.now) };
}

/** The current pair, or a new one when the policy requires it. @param seconds how long a new one is valid */
export async function issueIfDue(
  scope: Scope,
  plan: CertificatePlan,
  current: KeyPair | undefined,
  seconds = certificateLifetimes(scope.cluster.spec.certificates).leafSeconds,
): Promise<KeyPair> {
  const ca = caPair(scope, plan.signer);
  const violation = mustIssue({ plan, current, ca: ca.certificate, now: scope.now });
  if (!violation && current) return current;
  // A certificate that works is better than one by a clock that is wrong.
  if (current && scope.clockFault !== undefined && isUsable(current)) return current;
  requireRightClock(scope, `the certificate in Secret ${plan.secret}`);
  return issueCertificate(plan, ca, validFor(seconds * 1000, scope.now));
}

function isUsable(pair: KeyPair): boolean {
  return isReadable(pair) && isKeyOf(pair.certificate, pair.key);
}

/** The signing pair of a CA that the phase `caCertificates` has validated. */
export function caPair({ cluster, reader }: Scope, name: CAName): KeyPair {
  const secret = caSecret({ cluster }, name);
  const pair = pairOf(reader.get<SecretObject>(Secret, secret));
  if (!pair) throw new Error(`Secret ${secret} with a CA was deleted during the reconcile`);
  return pair;
}

function caSecret({ cluster }: Pick<Scope, 'cluster'>, name: CAName): string {
  return planCAs(cluster.name).find(({ ca }) => ca === name)?.secret ?? '';
}

function earliest(dates: readonly Date[]): Date | undefined {
  return dates.length > 0 ? new Date(Math.min(...dates.map((date) => date.getTime()))) : undefined;
}
