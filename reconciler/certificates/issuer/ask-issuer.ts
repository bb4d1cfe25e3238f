import type { SecretObject } from '../../../imports/kubernetes.ts';
import type { CertificateRequestObject } from '../../../imports/cert-manager.ts';
import { requestedForLabel } from '../../../constructs/api/group.ts';
import type { IssuerRef } from '../../../constructs/api/certificates-spec.ts';
import { CertificateRequest, Secret } from '../../../constructs/api/resources.ts';
import { requestSecretName } from '../../../constructs/cluster/names.ts';
import { usesTunnel } from '../../../constructs/cluster/in-cluster-access.ts';
import { describeObject, isControlledBy } from '../../kube/object.ts';
import type { IssuerContext } from './context.ts';
import type { ObtainCAProps, ObtainedCA } from './obtained-ca.ts';
import { secretProps } from '../secret-props.ts';
import { issuerRefusal } from './admitted-issuer.ts';
import { certificateRequest, requestName } from './certificate-request.ts';
import { decide } from './plan-request.ts';
import { issuedProblem } from './issued-ca.ts';
import { requestedKey, requestSecret } from './request-key.ts';
import { createKey, keyHash } from '../../pki/key.ts';
import { createSigningRequest } from '../../pki/signing-request.ts';

/**
 * Requests a certificate from a cert-manager issuer for a CA whose key stays here. The key is stored before the
 * request, so that no crash can lose the key of an issued certificate. The returned certificate is trusted, and never
 * that of the issuer. Otherwise everything that the issuer signs for others would be a client of this control plane.
 */
export async function askIssuer(scope: IssuerContext, props: ObtainCAProps, issuerRef: IssuerRef): Promise<ObtainedCA> {
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

  const decision = decide({
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
