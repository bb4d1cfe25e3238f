import { createPrivateKey, createPublicKey } from 'node:crypto';
import { certificateLifetimes } from '../../constructs/api/certificates-spec.ts';
import { serviceAccountIssuerAnnotation } from '../../constructs/api/group.ts';
import type { HostedControlPlaneSpec } from '../../constructs/api/hosted-control-plane.ts';
import { namesOf, successorSecretName } from '../../constructs/cluster/names.ts';
import { planCAs } from '../../constructs/control-plane/certificates/certificate-plans.ts';
import { readCertificate } from '../pki/certificate.ts';
import { createCA, type KeyPair, validFor } from '../pki/issue.ts';
import { bundle, fingerprint, splitCertificates } from '../pki/pem.ts';
import { caProblem } from '../pki/reissue-policy.ts';

/** What an import reads from the other provider, all PEM. */
export interface OtherKeys {
  /** The CA that signs, and its key. */
  readonly ca: KeyPair;
  /** All certificates of cluster CAs that workers may trust or present. */
  readonly trusted: string;
  readonly serviceAccountKey: string;
  readonly issuer: string;
}

/** A Secret of the new control plane, in Cluster API's layout. */
export interface NewSecret {
  readonly name: string;
  readonly pair: KeyPair;
  readonly annotations: Readonly<Record<string, string>>;
}

interface IdentityInput {
  readonly cluster: string;
  readonly spec: Pick<HostedControlPlaneSpec, 'certificates'>;
  readonly now: Date;
}

/**
 * The Secrets with which the new control plane continues: workers and tokens stay valid. etcd and the front proxy get
 * new CAs, because no worker knows the old ones. A cluster CA that expires before what it would sign gets a successor
 * that is trusted from the beginning, so that it is replaced with a single rollout of workers.
 */
export async function newSecrets(keys: OtherKeys, { cluster, spec, now }: IdentityInput): Promise<NewSecret[]> {
  const { secrets } = namesOf(cluster);
  const { rootCASeconds, caSeconds } = certificateLifetimes(spec.certificates);
  const created = new Map<string, KeyPair>();
  for (const plan of planCAs(cluster)) {
    const seconds = plan.ca === 'cluster' ? rootCASeconds : caSeconds;
    created.set(plan.ca, await createCA(plan, validFor(seconds * 1000, now)));
  }
  const pairOf = (ca: string): KeyPair => created.get(ca) ?? { certificate: '', key: '' };
  const successor = needsSuccessor(keys, { spec, now }) ? pairOf('cluster') : undefined;
  const trusted = [...trustedCertificates(keys, now), ...(successor ? [successor.certificate] : [])];
  const plain = { annotations: {} };
  return [
    { name: secrets.clusterCA, pair: { certificate: bundle(...trusted), key: keys.ca.key }, ...plain },
    ...(successor ? [{ name: successorSecretName(secrets.clusterCA), pair: successor, ...plain }] : []),
    { name: secrets.etcdCA, pair: pairOf('etcd'), ...plain },
    { name: secrets.frontProxyCA, pair: pairOf('proxy'), ...plain },
    {
      name: secrets.serviceAccount,
      pair: { certificate: publicKeyOf(keys.serviceAccountKey), key: keys.serviceAccountKey },
      annotations: { [serviceAccountIssuerAnnotation]: keys.issuer },
    },
  ];
}

/** Whether the CA expires before certificates that it would sign now. */
export function needsSuccessor({ ca }: Pick<OtherKeys, 'ca'>, { spec, now }: Omit<IdentityInput, 'cluster'>): boolean {
  const { leafSeconds } = certificateLifetimes(spec.certificates);
  return readCertificate(ca.certificate).notAfter.getTime() < now.getTime() + leafSeconds * 1000;
}

/** The problem with the keys, as a sentence for the user that shows none of them; undefined if there is none. */
export function problemWithKeys(
  { ca, serviceAccountKey, issuer }: OtherKeys,
  names: {
    readonly ca: string;
    readonly serviceAccountKey: string;
  },
  now: Date,
): string | undefined {
  const problem = caProblem(names.ca, ca, now);
  if (problem !== undefined) return problem;
  // What the operator accepts as a record; another text would be replaced by the endpoint, and all tokens be refused.
  if (!/^https:\/\/[^\s,?#]+$/.test(issuer))
    return `the service account issuer "${issuer}" is no https URL without query and comma: the operator cannot keep it`;
  try {
    publicKeyOf(serviceAccountKey);
    return undefined;
  } catch {
    return `Secret ${names.serviceAccountKey} contains no readable key of service account tokens`;
  }
}

/** The CA that signs is the first one. Expired certificates are left out, because nothing presents them any more. */
function trustedCertificates({ ca, trusted }: OtherKeys, now: Date): string[] {
  const [signer = ''] = splitCertificates(ca.certificate);
  const others = splitCertificates(trusted).filter(
    (one) => fingerprint(one) !== fingerprint(signer) && readCertificate(one).notAfter > now,
  );
  return [signer, ...new Map(others.map((one) => [fingerprint(one), one])).values()];
}

function publicKeyOf(privateKey: string): string {
  return createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'pem' }).toString();
}
