import { certificateLifetimes } from '../../constructs/api/certificates-spec.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/control-plane/names.ts';
import { done, type Outcome, wait } from '../outcome.ts';
import { createAuthority, createServiceAccountKey, type KeyPair, validFor } from '../pki/issue.ts';
import { fingerprint } from '../pki/pem.ts';
import { planAuthorities } from '../pki/plan.ts';
import { authorityProblem, keyProblem } from '../pki/policy.ts';
import { pairSecret, type SecretObject, valueOf } from '../pki/secret.ts';
import type { Phase, Scope } from '../scope.ts';
import { takeOverIdentity } from './identity.ts';
import { secretProps } from './secret-props.ts';

/** A certificate authority or the service account key: what must exist once and is never replaced silently. */
interface Root {
  readonly secret: string;
  readonly isAuthority: boolean;
  create(): Promise<KeyPair>;
}

/**
 * The certificate authorities and the service account key. A user's own are used as they are. One that is missing after
 * workers may have joined stops the line: a new one would cut all of them off.
 */
export const authorities: Phase = {
  condition: 'CACertificatesReady',
  needs: [],
  async run(scope): Promise<Outcome> {
    const takingOver = await takeOverIdentity(scope);
    if (takingOver) return takingOver;
    const roots = rootsOf(scope);
    const present = new Map<string, KeyPair>();
    for (const root of roots) {
      const pair = await observe(scope, root);
      if (pair === undefined) return missing(root.secret);
      const problem = (root.isAuthority ? authorityProblem : keyProblem)(root.secret, pair, scope.now);
      if (problem) return wait('CACertificateInvalid', problem, { afterMs: recheckMs });
      present.set(root.secret, pair);
    }

    return done({
      clusterAuthority: present.get(namesOf(scope.cluster.name).secrets.clusterAuthority)?.certificate,
      certificates: Object.fromEntries(
        [...present].map(([secret, { certificate }]) => [secret, fingerprint(certificate)]),
      ),
    });
  },
};

/** A Secret of the user carries no label of ours, so that no event tells when it is back. */
const recheckMs = 30_000;

function rootsOf({ cluster, now }: Scope): Root[] {
  const { rootCASeconds, caSeconds } = certificateLifetimes(cluster.spec.certificates);
  return [
    ...planAuthorities(cluster.name).map((plan) => ({
      secret: plan.secret,
      isAuthority: true,
      create: () =>
        createAuthority(plan, validFor((plan.authority === 'cluster' ? rootCASeconds : caSeconds) * 1000, now)),
    })),
    { secret: namesOf(cluster.name).secrets.serviceAccount, isAuthority: false, create: createServiceAccountKey },
  ];
}

/** The pair that is there, or a new one where that does no harm; undefined when there is none and none may be made. */
async function observe(scope: Scope, root: Root): Promise<KeyPair | undefined> {
  const { world, writer, hostedControlPlane } = scope;
  const remembered = world.get<SecretObject>(Secret, root.secret);
  if (remembered) return halvesOf(remembered);
  const mayCreate = !hostedControlPlane.status?.initialization?.controlPlaneInitialized;
  const object: SecretObject | undefined = mayCreate
    ? await writer.createOnce(pairSecret(secretProps(scope, root.secret), 'clusterApi', await root.create()))
    : await writer.read(Secret, root.secret);
  if (!object) return undefined;
  // A user's own Secret: from now on the watch sees it.
  if (!world.get(Secret, root.secret)) await writer.adopt(Secret, root.secret);
  return halvesOf(object);
}

/** What is missing of a pair is empty, so that it is reported by its name. */
function halvesOf(object: SecretObject): KeyPair {
  return { certificate: valueOf(object, 'tls.crt') ?? '', key: valueOf(object, 'tls.key') ?? '' };
}

function missing(secret: string): Outcome {
  return wait(
    'CACertificateMissing',
    `Secret ${secret} is gone; workers trust what it held, so it is not made anew: restore it from a backup`,
    { afterMs: recheckMs },
  );
}
