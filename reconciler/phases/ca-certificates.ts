import type { SecretObject } from '../../imports/kubernetes.ts';
import { adoptUsersObject, recheckMs } from '../clusters/management/users-objects.ts';
import { certificateLifetimes } from '../../constructs/api/certificates-spec.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { namesOf, successorSecretName } from '../../constructs/cluster/names.ts';
import { done, type Outcome, wait } from '../engine/outcome.ts';
import { readCertificate } from '../pki/certificate.ts';
import { wasEtcdFormed } from '../backup/restore/earlier-data.ts';
import { takeBack } from '../certificates/kept-secrets.ts';
import { createServiceAccountKey, type KeyPair } from '../pki/issue.ts';
import { clearRequests } from '../certificates/issuer/clear-requests.ts';
import { obtainCA, type ObtainedCA } from '../certificates/issuer/obtain-ca.ts';
import { signerFingerprint, trustFingerprint } from '../pki/pem.ts';
import { planCAs } from '../../constructs/control-plane/certificates/certificate-plans.ts';
import { caProblem, keyProblem } from '../pki/reissue-policy.ts';
import { pairSecret, valueOf } from '../pki/secret.ts';
import { answering, requestOf, type rotations } from '../certificates/rotation-request.ts';
import { firstTokenRecord } from '../certificates/service-account-key/token-record.ts';
import { phase, type Scope } from './scope.ts';
import { takeOverIdentity } from './identity.ts';
import { secretProps } from '../certificates/secret-props.ts';

type PendingCA = Extract<ObtainedCA, { readonly kind: 'pending' }>;

/** A CA or the service account key: a pair that is created once and never replaced silently. */
interface Root {
  readonly secret: string;
  readonly isCA: boolean;
  readonly rotation: keyof typeof rotations;
  /** Annotations that it gets when it is created. */
  readonly annotations?: Readonly<Record<string, string>>;
  obtain(): Promise<ObtainedCA>;
}

/**
 * The CAs and the service account key. The user's own are used without changes. If one is missing after workers may
 * have joined, the reconcile stops: a new one would cut off all workers.
 */
export const caCertificates = phase({
  condition: 'CACertificatesReady',
  needs: [],
  async run(scope): Promise<Outcome> {
    const takingOver = await takeOverIdentity(scope);
    if (takingOver) return takingOver;
    const roots = rootsOf(scope);
    const present = new Map<string, KeyPair>();
    const pending: PendingCA[] = [];
    for (const root of roots) {
      const found = await observe(scope, root);
      if (found === undefined) return missing(root.secret);
      if (found.kind === 'pending') {
        pending.push(found);
        continue;
      }
      const { pair } = found;
      const problem = (root.isCA ? caProblem : keyProblem)(root.secret, pair, scope.now);
      if (problem) return wait('CACertificateInvalid', problem, { afterMs: recheckMs });
      present.set(root.secret, pair);
    }
    await clearRequests(scope);
    if (pending.length > 0) return waitForIssuer(scope, pending);

    const facts = {
      clusterCA: present.get(namesOf(scope.cluster.name).secrets.clusterCA)?.certificate,
      certificates: Object.fromEntries(
        [...present].map(([secret, { certificate }]) => [secret, trustFingerprint(certificate)]),
      ),
      signers: Object.fromEntries(
        [...present].map(([secret, { certificate }]) => [secret, signerFingerprint(certificate)]),
      ),
    };
    const { leafSeconds } = certificateLifetimes(scope.cluster.spec.certificates);
    return done(facts, undefined, { message: shortened(scope.cluster.name, present, leafSeconds) });
  },
});

/** Watches report what cert-manager does, but not that a retry is due. */
function waitForIssuer({ now }: Scope, pending: readonly PendingCA[]): Outcome {
  const message = [...new Set(pending.map((one) => one.message))].join('; ');
  const times = pending.flatMap(({ requeueAt }) => (requeueAt ? [requeueAt.getTime() - now.getTime()] : []));
  return wait('WaitingForIssuer', message, times.length > 0 ? { afterMs: Math.min(...times) } : {});
}

/**
 * A message about CAs whose lifetime is too short for the lifetime of the certificates they sign; undefined when there
 * are none.
 */
function shortened(cluster: string, present: ReadonlyMap<string, KeyPair>, leafSeconds: number): string | undefined {
  const short = planCAs(cluster).filter(({ secret }) => {
    const { notBefore, notAfter } = readCertificate(present.get(secret)?.certificate ?? '');
    return notAfter.getTime() - notBefore.getTime() < 2 * leafSeconds * 1000;
  });
  if (short.length === 0) return undefined;
  const secrets = short.map(({ secret }) => secret).join(', ');
  return `the CA in Secret ${secrets} has less than twice the lifetime of certificates (${leafSeconds / 3600}h): certificates expire with the CA, and the operator renews them more often`;
}

function rootsOf(scope: Scope): Root[] {
  const { cluster } = scope;
  const { rootCASeconds, caSeconds } = certificateLifetimes(cluster.spec.certificates);
  return [
    ...planCAs(cluster.name).map((plan) => ({
      secret: plan.secret,
      isCA: true,
      rotation: plan.ca,
      obtain: () =>
        obtainCA(scope, {
          plan,
          secret: plan.secret,
          durationSeconds: plan.ca === 'cluster' ? rootCASeconds : caSeconds,
        }),
    })),
    {
      secret: namesOf(cluster.name).secrets.serviceAccount,
      isCA: false,
      rotation: 'serviceAccount',
      annotations: firstTokenRecord(cluster.spec.deployment.apiServer.args),
      obtain: async () => ({ kind: 'obtained', pair: createServiceAccountKey() }),
    },
  ];
}

/**
 * The existing pair, or a new one where that is safe; undefined when there is none and the operator must not create
 * one.
 */
async function observe(scope: Scope, root: Root): Promise<ObtainedCA | undefined> {
  const { reader, writer, hostedControlPlane } = scope;
  const remembered = reader.get<SecretObject>(Secret, root.secret);
  if (remembered) {
    for (const name of [root.secret, successorSecretName(root.secret)]) {
      const kept = reader.get(Secret, name);
      if (kept) await takeBack(scope, kept, secretProps(scope, name));
    }
    return { kind: 'obtained', pair: halvesOf(remembered) };
  }
  // etcd needs the CAs before it is formed, and what it stores may be signed by them.
  const mayMake = !hostedControlPlane.status?.initialization?.controlPlaneInitialized && !wasEtcdFormed(scope);
  // Reads first if the pair must exist or if an issuer would have to sign. Otherwise the attempt to create shows
  // whether it exists, and saves a request.
  const asksFirst = !mayMake || scope.cluster.spec.certificates.issuerRef !== undefined;
  const existing = asksFirst ? await writer.read<SecretObject>(Secret, root.secret) : undefined;
  if (existing) return adopt(scope, existing);
  if (!mayMake) return undefined;
  const obtained = await root.obtain();
  if (obtained.kind === 'pending') return obtained;
  const { metadata, ...rest } = pairSecret(secretProps(scope, root.secret), 'clusterApi', obtained.pair);
  const annotations = { ...answering(requestOf(hostedControlPlane, root.rotation)), ...root.annotations };
  const isAnswered = Object.keys(annotations).length > 0;
  const live = await writer.createOnce<SecretObject>({
    ...rest,
    metadata: { ...metadata, ...(isAnswered ? { annotations } : {}) },
  });
  return adopt(scope, live);
}

/** Adopts a user's own Secret, so that the watch includes it. */
async function adopt(scope: Scope, secret: SecretObject): Promise<ObtainedCA> {
  await adoptUsersObject(scope, Secret, secret.metadata.name);
  return { kind: 'obtained', pair: halvesOf(secret) };
}

/** A missing part of the pair is empty, so that the problem is reported by name. */
function halvesOf(object: SecretObject): KeyPair {
  return { certificate: valueOf(object, 'tls.crt') ?? '', key: valueOf(object, 'tls.key') ?? '' };
}

function missing(secret: string): Outcome {
  return wait(
    'CACertificateMissing',
    `Secret ${secret} does not exist, and the operator does not create a new one, because workers trust its content, and data in etcd depends on it: restore it from a backup`,
    { afterMs: recheckMs },
  );
}
