import { certificateLifetimes } from '../../constructs/api/certificates-spec.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { done, type Outcome } from '../engine/outcome.ts';
import { issueCertificate, type KeyPair, validFor } from '../pki/issue.ts';
import { readCertificate } from '../pki/certificate.ts';
import { crossKey, validChain } from '../pki/cross-certificate.ts';
import { fingerprint, splitCertificates } from '../pki/pem.ts';
import {
  type AuthorityName,
  type CertificatePlan,
  planAuthorities,
  planCertificates,
  planEtcdCertificates,
} from '../../constructs/control-plane/certificates/plan.ts';
import { mustIssue, renewalTime } from '../pki/policy.ts';
import { leafSecret, pairOf, type SecretObject, valueOf } from '../pki/secret.ts';
import { known, type Phase, type Scope } from './scope.ts';
import { authorities } from './cas.ts';
import { endpoint } from './endpoint.ts';
import { secretProps } from '../pki/secret-props.ts';

/** etcd's certificates. They wait for no endpoint, so that etcd starts while a load balancer is being made. */
export const etcdCertificates: Phase = {
  condition: 'EtcdCertificatesReady',
  needs: [authorities],
  run: (scope) => issueAll(scope, planEtcdCertificates(scope.cluster)),
};

/** Every other certificate that is kept in a Secret of its own. */
export const certificates: Phase = {
  condition: 'CertificatesReady',
  needs: [authorities, endpoint],
  run: (scope) =>
    issueAll(
      scope,
      planCertificates(
        scope.cluster,
        known(scope.facts, 'endpoint'),
        known(scope.facts, 'konnectivityEndpoint'),
        scope.facts.tunnelEndpoint,
      ),
    ),
};

async function issueAll(scope: Scope, plans: readonly CertificatePlan[]): Promise<Outcome> {
  const pairs = await Promise.all(
    plans.map(async (plan) => {
      const current = leafOf(pairOf(scope.world.get<SecretObject>(Secret, plan.secret)));
      return [plan, await issueIfDue(scope, plan, current)] as const;
    }),
  );

  await scope.writer.apply(
    pairs.map(([{ secret, signer }, pair]) => leafSecret(secretProps(scope, secret), pair, chainOf(scope, signer))),
  );

  return done(
    {
      // Of the certificate alone: nobody has to start anew for the chain below it.
      certificates: Object.fromEntries(
        pairs.map(([{ secret }, { certificate }]) => [secret, fingerprint(certificate)]),
      ),
    },
    earliest([
      ...pairs.map(([{ secret }, { certificate }]) => renewalTime(certificate, secret)),
      ...pairs.flatMap(([{ signer }]) => chainOf(scope, signer).chain.map((cross) => readCertificate(cross).notAfter)),
    ]),
  );
}

/** The pair without the chain that is served with it. */
function leafOf(pair: KeyPair | undefined): KeyPair | undefined {
  return pair && { ...pair, certificate: splitCertificates(pair.certificate)[0] ?? '' };
}

/** Who signs now, and how it is verified by whoever trusts only its predecessors. */
function chainOf(scope: Scope, name: AuthorityName): { readonly signer: string; readonly chain: readonly string[] } {
  const secret = scope.world.get<SecretObject>(Secret, authoritySecret(scope, name));
  const [signer = ''] = splitCertificates(authorityPair(scope, name).certificate);
  return { signer, chain: validChain(valueOf(secret, crossKey) ?? '', scope.now) };
}

/** The pair as it is, or a new one when the policy says why. */
export async function issueIfDue(scope: Scope, plan: CertificatePlan, current: KeyPair | undefined): Promise<KeyPair> {
  const authority = authorityPair(scope, plan.signer);
  const violation = mustIssue({ plan, current, authority: authority.certificate, now: scope.now });
  if (!violation && current) return current;
  const { leafSeconds } = certificateLifetimes(scope.cluster.spec.certificates);
  return issueCertificate(plan, authority, validFor(leafSeconds * 1000, scope.now));
}

/** The signing pair of an authority that the phase `authorities` has found usable. */
export function authorityPair({ cluster, world }: Scope, name: AuthorityName): KeyPair {
  const secret = authoritySecret({ cluster }, name);
  const pair = pairOf(world.get<SecretObject>(Secret, secret));
  if (!pair) throw new Error(`Secret ${secret} with a certificate authority is gone again`);
  return pair;
}

function authoritySecret({ cluster }: Pick<Scope, 'cluster'>, name: AuthorityName): string {
  return planAuthorities(cluster.name).find(({ authority }) => authority === name)?.secret ?? '';
}

function earliest(dates: readonly Date[]): Date | undefined {
  return dates.length > 0 ? new Date(Math.min(...dates.map((date) => date.getTime()))) : undefined;
}
