import type { SecretObject } from '../../../imports/kubernetes.ts';
import type { CertificateRequestObject } from '../../../imports/cert-manager.ts';
import { requestedForLabel } from '../../../constructs/api/group.ts';
import type { IssuerRef } from '../../../constructs/api/certificates-spec.ts';
import { CertificateRequest, Secret } from '../../../constructs/api/resources.ts';
import { requestSecretName } from '../../../constructs/cluster/names.ts';
import { usesTunnel } from '../../../constructs/cluster/in-cluster-access.ts';
import { describeObject, isControlledBy } from '../../kube/object.ts';
import { secretProps } from '../secret-props.ts';
import { certificateRequest, requestName, requestedKey, requestSecret } from './certificate-request.ts';
import { planRequest } from './plan-request.ts';
import { createKey, keyHash } from '../../pki/key.ts';
import { createSigningRequest } from '../../pki/signing-request.ts';
import type { ControlPlaneContext, SharedResources } from '../../clusters/management/view.ts';
import type { CAPlan } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { requireRightClock } from '../../engine/clock-wrong.ts';
import { createCA, type KeyPair, validFor } from '../../pki/issue.ts';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { firstMatch } from '../../engine/first-match.ts';
import { isKeyOf, readCertificate } from '../../pki/certificate.ts';
import { parsedCertificate } from '../../pki/parsed.ts';
import { renewalTime } from '../../pki/reissue-policy.ts';

/** What obtaining a CA needs. */
export interface IssuerContext extends ControlPlaneContext {
  readonly sharedResources: SharedResources;
  /** Issuers beyond the namespace that the platform lists, as `<namespace>/<Kind>/<name>`. */
  readonly clusterIssuers: readonly string[];
}

/** A new CA, or what it waits for. */
export type ObtainedCA =
  | { readonly kind: 'obtained'; readonly pair: KeyPair }
  | {
      readonly kind: 'pending';
      /** One sentence: what it waits for, and what a person can do if it never comes. */
      readonly message: string;
      /** When to ask again; unset if an event triggers it. */
      readonly requeueAt?: Date | undefined;
    };

interface ObtainCAProps {
  readonly plan: CAPlan;
  /** The Secret for it, which also determines the names of the intermediate objects. */
  readonly secret: string;
  readonly durationSeconds: number;
}

/**
 * Obtains a CA with a new key: self-signed, or signed by the issuer of the spec. The latter is pending for a while.
 * Call it again until it returns the CA, and store the CA. Then `clearRequests` deletes the intermediate objects.
 */
export async function obtainCA(scope: IssuerContext, props: ObtainCAProps): Promise<ObtainedCA> {
  requireRightClock(scope, `the CA for Secret ${props.secret}`);
  const { issuerRef } = scope.cluster.spec.certificates;
  if (issuerRef) return askIssuer(scope, props, issuerRef);
  const { plan, durationSeconds } = props;
  return { kind: 'obtained', pair: await createCA(plan, validFor(durationSeconds * 1000, scope.now)) };
}

/**
 * Requests a certificate from a cert-manager issuer for a CA whose key stays here. The key is stored before the
 * request, so that no crash can lose the key of an issued certificate. The returned certificate is trusted, and never
 * that of the issuer. Otherwise everything that the issuer signs for others would be a client of this control plane.
 */
async function askIssuer(scope: IssuerContext, props: ObtainCAProps, issuerRef: IssuerRef): Promise<ObtainedCA> {
  const { cluster, reader, writer, sharedResources, clusterIssuers, now } = scope;
  const { plan, secret, durationSeconds } = props;
  if (usesTunnel(cluster.spec)) return { kind: 'pending', message: untrusted };
  if (sharedResources.servedVersions('CertificateRequest').length === 0)
    return { kind: 'pending', message: notInstalled };
  const requests = reader.list<CertificateRequestObject>(CertificateRequest, { [requestedForLabel]: secret });
  const refusal = issuerRefusal(issuerRef, cluster.namespace, clusterIssuers);
  if (refusal !== undefined) {
    for (const request of requests) await writer.delete(CertificateRequest, request);
    return { kind: 'pending', message: refusal };
  }
  const kept = await keptKey(scope, secret);
  if (!isControlledBy(kept, scope.hostedControlPlane.metadata.uid))
    return {
      kind: 'pending',
      message: `Secret ${kept.metadata.name} is not of the operator, and its author may know the key in it: delete it`,
    };
  const key = readableKey(kept);
  const hash = keyHash(key);

  const decision = planRequest({
    requests,
    secret,
    keyHash: hash,
    issuerRef,
    problemOf: (certificate) => issuedProblem({ certificate, key, commonName: plan.commonName, secret, now }),
    now,
  });

  if (decision.kind === 'take') return { kind: 'obtained', pair: { certificate: decision.certificate, key } };
  for (const request of decision.outdated) await writer.delete(CertificateRequest, request);
  if (decision.kind === 'wait') return { kind: 'pending', message: decision.message, requeueAt: decision.requeueAt };
  const made = await writer.createOnce(
    certificateRequest({
      ...secretProps(scope, requestName(secret, hash, decision.attempt)),
      requestedFor: secret,
      issuerRef,
      signingRequest: await createSigningRequest(plan, key),
      durationSeconds,
    }),
  );
  return { kind: 'pending', message: `${describeObject(made)} waits for ${issuerRef.kind} ${issuerRef.name}` };
}

/** HAProxy has no option to trust a CA that is not self-signed, which OpenSSL requires by default. */
const untrusted =
  'certificates.issuerRef does not work with proxies on the workers behind a shared entry, because HAProxy does not trust a CA that another CA has signed: set inClusterAccess to Policy, or remove certificates.issuerRef';

const notInstalled =
  'certificates.issuerRef is set, but the management cluster does not serve CertificateRequest of cert-manager.io/v1: install cert-manager, or remove certificates.issuerRef';

/** The Secret with the key for this CA, which is a new one if there is none. */
async function keptKey(scope: IssuerContext, secret: string): Promise<SecretObject> {
  const name = requestSecretName(secret);
  const props = secretProps(scope, name);
  return (
    scope.reader.get<SecretObject>(Secret, name) ??
    scope.writer.createOnce<SecretObject>(requestSecret(props, secret, createKey()))
  );
}

/** @throws if the stored key is invalid */
function readableKey(kept: SecretObject): string {
  const key = requestedKey(kept);
  try {
    keyHash(key);
    return key;
  } catch {
    // Without the cause, because an error about a key may contain it.
    throw new Error(
      `Secret ${kept.metadata.name} contains no readable private key in tls.key: delete it, so that the operator creates a new one`,
    );
  }
}

/**
 * Why the operator asks this issuer for no CA, as a sentence; undefined if it may. Requests are made with its own rights: those of the
 * author of a spec do not reach beyond the namespace, and an intermediate CA signs for all who trust its root.
 * @param admitted entries of CLUSTER_ISSUERS
 */
function issuerRefusal(
  { name, kind, group }: IssuerRef,
  namespace: string,
  admitted: readonly string[],
): string | undefined {
  if (kind === 'Issuer' && group === 'cert-manager.io') return undefined;
  const issuer = `${group === 'cert-manager.io' ? kind : `${kind}.${group}`}/${name}`;
  if ([namespace, '*'].some((place) => admitted.includes(`${place}/${issuer}`))) return undefined;
  return `the platform does not let namespace ${namespace} have CAs of ${issuer}: ask it to add ${namespace}/${issuer} to CLUSTER_ISSUERS of the operator, or name an Issuer of the namespace in certificates.issuerRef`;
}

interface IssuedCA {
  /** PEM of the returned certificate. */
  readonly certificate: string;
  /** PEM of the key of the request. */
  readonly key: string;
  readonly commonName: string;
  /** Name of the Secret for it. */
  readonly secret: string;
  readonly now: Date;
}

type Check = (issued: IssuedCA) => string | undefined;

/**
 * The problem with a CA that an issuer has signed, as a clause for the user; undefined if it is usable. An issuer may
 * ignore parts of the request.
 */
export function issuedProblem(issued: IssuedCA): string | undefined {
  try {
    return firstMatch([ofKey, isCA, asNamed, mayIssue, livesLongEnough], issued);
  } catch {
    return 'it cannot be read';
  }
}

const ofKey: Check = ({ certificate, key }) => (isKeyOf(certificate, key) ? undefined : 'it is for another key');

const isCA: Check = ({ certificate }) =>
  readCertificate(certificate).isCA
    ? undefined
    : 'it is not a CA certificate (basic constraints CA: false, or a key usage without keyCertSign)';

const asNamed: Check = ({ certificate, commonName }) =>
  readCertificate(certificate).commonNames.includes(commonName)
    ? undefined
    : `its common name is not ${commonName}, by which certificates refer to their issuer`;

/** Limits that would apply to everything it signs: servers and clients, with any name. */
const mayIssue: Check = ({ certificate }) => {
  const parsed = parsedCertificate(certificate);
  const extended = parsed.getExtension(x509.ExtendedKeyUsageExtension)?.usages.map(String);
  const needed = [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth];
  if (extended && !extended.includes(anyUsage) && !needed.every((usage) => extended.includes(usage))) {
    return 'its extended key usage does not allow certificates for servers and clients';
  }
  if (parsed.getExtension(nameConstraints)) return 'name constraints limit it to some names';
  return undefined;
};

const anyUsage = '2.5.29.37.0';
const nameConstraints = '2.5.29.30';

const livesLongEnough: Check = ({ certificate, secret, now }) => {
  const { notBefore, notAfter } = readCertificate(certificate);
  const hours = Math.floor((notAfter.getTime() - notBefore.getTime()) / 3_600_000);
  if (hours < leastHours)
    return `its lifetime is ${hours}h, but clients need ${leastHours}h to trust a successor in time`;
  if (now < notBefore) return `it is not valid before ${notBefore.toISOString()}`;
  // A leftover of an earlier attempt.
  if (now >= renewalTime(certificate, secret)) return 'half of its lifetime has passed';
  return undefined;
};

/** As for self-signed CAs. */
const leastHours = 24;
