import { certificateLifetimes } from '../../constructs/api/certificates-spec.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { done, type Outcome } from '../outcome.ts';
import { issueCertificate, type KeyPair, validFor } from '../pki/issue.ts';
import { fingerprint } from '../pki/pem.ts';
import {
  type AuthorityName,
  type CertificatePlan,
  planAuthorities,
  planCertificates,
  planEtcdCertificates,
} from '../../constructs/control-plane/certificates/plan.ts';
import { mustIssue, renewalTime } from '../pki/policy.ts';
import { pairOf, pairSecret, type SecretObject } from '../pki/secret.ts';
import { known, type Phase, type Scope } from '../scope.ts';
import { authorities } from './authorities.ts';
import { endpoint } from './endpoint.ts';
import { secretProps } from './secret-props.ts';

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
      const current = pairOf(scope.world.get<SecretObject>(Secret, plan.secret));
      return [plan, await issueIfDue(scope, plan, current)] as const;
    }),
  );

  await scope.writer.apply(pairs.map(([plan, pair]) => pairSecret(secretProps(scope, plan.secret), 'tls', pair)));

  return done(
    {
      certificates: Object.fromEntries(
        pairs.map(([{ secret }, { certificate }]) => [secret, fingerprint(certificate)]),
      ),
    },
    earliest(pairs.map(([{ secret }, { certificate }]) => renewalTime(certificate, secret))),
  );
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
  const secret = planAuthorities(cluster.name).find(({ authority }) => authority === name)?.secret ?? '';
  const pair = pairOf(world.get<SecretObject>(Secret, secret));
  if (!pair) throw new Error(`Secret ${secret} with a certificate authority is gone again`);
  return pair;
}

function earliest(dates: readonly Date[]): Date | undefined {
  return dates.length > 0 ? new Date(Math.min(...dates.map((date) => date.getTime()))) : undefined;
}
