import { certificateLifetimes } from '../../../constructs/api/certificates-spec.ts';
import { group, rotatedForAnnotation } from '../../../constructs/api/group.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { definedOnly } from '../../../constructs/cluster/defined.ts';
import { successorSecretName } from '../../../constructs/cluster/names.ts';
import type { CAPlan } from '../../../constructs/control-plane/certificates/plan.ts';
import { crossCertify, crossKey, validChain } from '../../pki/cross-certificate.ts';
import type { KeyPair } from '../../pki/issue.ts';
import { bundle, fingerprint, splitCertificates } from '../../pki/pem.ts';
import { encodedData, pairOf, type SecretObject, valueOf } from '../../pki/secret.ts';
import type { CARotationContext } from './context.ts';
import { answeredBy, answering, type RotationRequest } from '../request.ts';

/** When the authority of a Secret began to sign, where it is not its first one. */
const signsSinceAnnotation = `${group}/signs-since`;

/** When the Secret was last told whom to trust. */
const trustsSinceAnnotation = `${group}/trusts-since`;

/** An authority, and its successor if one waits, as their Secrets say. */
export interface RotatedCA {
  readonly plan: CAPlan;
  readonly secret: SecretObject;
  /** All that are trusted, and the key of the first, which signs. */
  readonly pair: KeyPair;
  readonly next: { readonly secret: SecretObject; readonly pair: KeyPair } | undefined;
}

/** Reads it from what the watches know; undefined when it is gone. */
export function readCA({ reader }: Pick<CARotationContext, 'reader'>, plan: CAPlan): RotatedCA | undefined {
  const secret = reader.get<SecretObject>(Secret, plan.secret);
  const pair = pairOf(secret);
  const waiting = reader.get<SecretObject>(Secret, successorSecretName(plan.secret));
  const next = waiting && {
    secret: waiting,
    // What is missing is reported by name.
    pair: pairOf(waiting) ?? { certificate: '', key: '' },
  };
  return secret && pair && { plan, secret, pair, next };
}

/** PEM of those that are trusted, by fingerprint, in their order. */
export function trustedBy({ pair }: Pick<RotatedCA, 'pair'>): ReadonlyMap<string, string> {
  return new Map(splitCertificates(pair.certificate).map((certificate) => [fingerprint(certificate), certificate]));
}

/** How long a new one lives. */
export function lifeSeconds({ cluster }: Pick<CARotationContext, 'cluster'>, { ca }: CAPlan): number {
  const { rootCASeconds, caSeconds } = certificateLifetimes(cluster.spec.certificates);
  return ca === 'cluster' ? rootCASeconds : caSeconds;
}

/** When the one that signs began to; undefined for the first one, and where nobody wrote it down. */
export function signsSince(ca: RotatedCA): Date | undefined {
  return timeOf(ca, signsSinceAnnotation);
}

/** When those that are trusted changed last without another one signing; undefined where nobody wrote it down. */
export function trustsSince(ca: RotatedCA): Date | undefined {
  return timeOf(ca, trustsSinceAnnotation);
}

function timeOf({ secret }: RotatedCA, annotation: string): Date | undefined {
  const time = Date.parse(secret.metadata.annotations?.[annotation] ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}

/** The Secret with other certificates trusted, of which the first one goes on to sign. */
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
 * The Secret with its successor signing, as the answer to a request. Nodes know the authority of the cluster for as long
 * as they live: for them the key of the successor is certified by the one that goes.
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
    // A request that was withdrawn meanwhile, and comes back as it was, is no new one.
    annotations: {
      ...answering({ ...answeredBy(secret), ...definedOnly({ ...request }) }),
      [signsSinceAnnotation]: now.toISOString(),
    },
  });
}

/** Only what a rotation changes: the rest of a user's own Secret is theirs. Fails when somebody has written since. */
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
