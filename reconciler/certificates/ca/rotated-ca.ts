import type { SecretObject } from '../../../imports/kubernetes.ts';
import type { FactsWith } from '../../../constructs/cluster/facts.ts';
import type { HostedAccess } from '../../clusters/hosted/hosted-client.ts';
import type { Work } from '../../engine/tasks/background-work.ts';
import type { Clock } from '../../kube/clock.ts';
import type { TrustProbes } from './trust-probes.ts';
import { certificateLifetimes } from '../../../constructs/api/certificates-spec.ts';
import { group, rotatedForAnnotation } from '../../../constructs/api/group.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { successorSecretName } from '../../../constructs/cluster/names.ts';
import type { CAPlan } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { crossCertify, crossKey, validChain } from '../../pki/cross-certificate.ts';
import type { KeyPair } from '../../pki/issue.ts';
import { bundle, fingerprint, splitCertificates } from '../../pki/pem.ts';
import { encodedData, pairOf, valueOf } from '../../pki/secret.ts';
import type { IssuerContext } from '../issuer/obtain-ca.ts';
import { answeredBy, answering, type RotationRequest } from '../rotation-request.ts';

/** What a rotation of a CA needs. */
export interface CARotationContext extends IssuerContext, HostedAccess {
  readonly facts: FactsWith<'endpoint' | 'konnectivityEndpoint'>;
  readonly trustProbes: TrustProbes;
  readonly work: Work;
  readonly clock: Clock;
}

/** When the CA of a Secret began to sign, unless it is its first one. */
const signsSinceAnnotation = `${group}/signs-since`;

/** When the trusted certificates of the Secret last changed. */
const trustsSinceAnnotation = `${group}/trusts-since`;

/** A CA, and its successor if there is one, as in their Secrets. */
export interface RotatedCA {
  readonly plan: CAPlan;
  readonly secret: SecretObject;
  /** All trusted certificates, and the key of the first, which signs. */
  readonly pair: KeyPair;
  readonly next: { readonly secret: SecretObject; readonly pair: KeyPair } | undefined;
}

/** Reads the CA from what the watches know; undefined if it does not exist. */
export function readCA({ reader }: Pick<CARotationContext, 'reader'>, plan: CAPlan): RotatedCA | undefined {
  const secret = reader.get<SecretObject>(Secret, plan.secret);
  const pair = pairOf(secret);
  const waiting = reader.get<SecretObject>(Secret, successorSecretName(plan.secret));
  const next = waiting && {
    secret: waiting,
    // Missing parts are reported by name.
    pair: pairOf(waiting) ?? { certificate: '', key: '' },
  };
  return secret && pair && { plan, secret, pair, next };
}

/** The successor has not signed anything yet except its test certificates. */
export function isWaiting({ pair, next }: RotatedCA): boolean {
  return next !== undefined && next.pair.key !== pair.key;
}

/** PEM of the trusted certificates, by fingerprint, in their order. */
export function trustedBy({ pair }: Pick<RotatedCA, 'pair'>): ReadonlyMap<string, string> {
  return new Map(splitCertificates(pair.certificate).map((certificate) => [fingerprint(certificate), certificate]));
}

/** Lifetime of a new CA. */
export function lifeSeconds({ cluster }: Pick<CARotationContext, 'cluster'>, { ca }: CAPlan): number {
  const { rootCASeconds, caSeconds } = certificateLifetimes(cluster.spec.certificates);
  return ca === 'cluster' ? rootCASeconds : caSeconds;
}

/** When the signing CA began to sign; undefined for the first one, and if it was not recorded. */
export function signsSince(ca: RotatedCA): Date | undefined {
  return timeOf(ca, signsSinceAnnotation);
}

/** When the trusted certificates last changed without a change of the signer; undefined if it was not recorded. */
export function trustsSince(ca: RotatedCA): Date | undefined {
  return timeOf(ca, trustsSinceAnnotation);
}

function timeOf({ secret }: RotatedCA, annotation: string): Date | undefined {
  const time = Date.parse(secret.metadata.annotations?.[annotation] ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}

/** The Secret with other trusted certificates. The first one continues to sign. */
export function trusting(ca: RotatedCA, trusted: readonly string[], now: Date): RenderedObject {
  const { secret, pair } = ca;
  const { annotations = {} } = secret.metadata;
  const kept = [rotatedForAnnotation, signsSinceAnnotation].filter((name) => annotations[name] !== undefined);
  return rewritten(ca, {
    pair: { certificate: bundle(...trusted), key: pair.key },
    chain: validChain(valueOf(secret, crossKey) ?? '', now),
    annotations: {
      ...Object.fromEntries(kept.map((name) => [name, annotations[name] ?? ''])),
      [trustsSinceAnnotation]: now.toISOString(),
    },
  });
}

/**
 * The Secret with its successor as the signer, as the answer to a request. Nodes trust the CA of the cluster for their
 * whole lifetime. For them the predecessor certifies the key of the successor.
 */
export async function signing(
  ca: RotatedCA,
  {
    next,
    trusted,
    request,
    now,
  }: {
    readonly next: KeyPair;
    readonly trusted: readonly string[];
    readonly request: RotationRequest;
    readonly now: Date;
  },
): Promise<RenderedObject> {
  const { plan, secret, pair } = ca;
  const older = validChain(valueOf(secret, crossKey) ?? '', now);
  const chain = plan.ca === 'cluster' ? [await crossCertify(next.certificate, pair, now), ...older] : [];
  return rewritten(ca, {
    pair: { certificate: bundle(...trusted), key: next.key },
    chain,
    // A request that was withdrawn meanwhile, and returns unchanged, is not a new one.
    annotations: {
      ...answering({ ...answeredBy(secret), ...definedOnly({ ...request }) }),
      [signsSinceAnnotation]: now.toISOString(),
    },
  });
}

/**
 * Contains only what a rotation changes, because the rest of a user's own Secret belongs to the user. An apply fails if
 * another client has written since.
 */
function rewritten(
  { secret }: RotatedCA,
  {
    pair,
    chain,
    annotations,
  }: {
    readonly pair: KeyPair;
    readonly chain: readonly string[];
    readonly annotations: Record<string, string>;
  },
): RenderedObject {
  const { name, namespace = '', resourceVersion } = secret.metadata;
  const metadata = { name, namespace, annotations, ...(resourceVersion ? { resourceVersion } : {}) };
  const values = {
    'tls.crt': pair.certificate,
    'tls.key': pair.key,
    ...(chain.length > 0 ? { [crossKey]: bundle(...chain) } : {}),
  };
  return {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata,
    data: encodedData(values),
  };
}
