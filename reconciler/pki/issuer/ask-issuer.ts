import { requestedForLabel } from '../../../constructs/api/group.ts';
import type { IssuerRef } from '../../../constructs/api/certificates-spec.ts';
import { CertificateRequest, Secret } from '../../../constructs/api/resources.ts';
import { requestSecretName } from '../../../constructs/cluster/names.ts';
import { usesTunnel } from '../../../constructs/cluster/in-cluster-access.ts';
import { describeObject } from '../../kube/object.ts';
import type { IssuerContext } from './context.ts';
import type { ObtainCAProps, ObtainedCA } from './obtained-ca.ts';
import { secretProps } from '../secret-props.ts';
import type { SecretObject } from '../secret.ts';
import { certificateRequest, type CertificateRequestObject, requestName } from './certificate-request.ts';
import { decide } from './plan.ts';
import { issuedProblem } from './issued-ca.ts';
import { requestedKey, requestSecret } from './request-key.ts';
import { createKey, keyHash } from '../key.ts';
import { createSigningRequest } from './signing-request.ts';

/**
 * Has an issuer of cert-manager sign an authority whose key stays here. The key is stored before anything is asked for,
 * so that no crash can lose the key of a certificate that was issued. What is trusted is the certificate that comes back
 * and never the issuer's own: else everything the issuer signs for others were a client of this control plane.
 */
export async function askIssuer(scope: IssuerContext, props: ObtainCAProps, issuerRef: IssuerRef): Promise<ObtainedCA> {
  const { cluster, reader, writer, sharedResources, now } = scope;
  const { plan, secret, durationSeconds } = props;
  if (usesTunnel(cluster.spec)) return { kind: 'pending', message: distrusted };
  if (sharedResources.servedVersions('CertificateRequest').length === 0)
    return { kind: 'pending', message: notInstalled };
  const key = await keyFor(scope, secret);
  const hash = keyHash(key);
  const requests = reader.list<CertificateRequestObject>(CertificateRequest, { [requestedForLabel]: secret });

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
      signingRequest: await createSigningRequest(plan.commonName, key),
      durationSeconds,
    }),
  );
  return { kind: 'pending', message: `${describeObject(made)} waits for ${issuerRef.kind} ${issuerRef.name}` };
}

/** HAProxy cannot be told to be content with an authority that does not sign itself, as OpenSSL by itself is not. */
const distrusted =
  'certificates.issuerRef cannot be had with proxies on the workers behind a shared entry, because HAProxy trusts no authority that another has signed: set inClusterAccess to Policy, or remove certificates.issuerRef';

const notInstalled =
  'certificates.issuerRef names an issuer, and there is no cert-manager.io/v1 CertificateRequest here: install cert-manager, or remove certificates.issuerRef';

/** The key that is kept for this authority, or a new one. @throws when what is kept is none */
async function keyFor(scope: IssuerContext, secret: string): Promise<string> {
  const name = requestSecretName(secret);
  const kept =
    scope.reader.get<SecretObject>(Secret, name) ??
    (await scope.writer.createOnce<SecretObject>(requestSecret(secretProps(scope, name), secret, createKey())));
  const key = requestedKey(kept);
  try {
    keyHash(key);
    return key;
  } catch {
    // Without the cause: an error about a key may quote it.
    throw new Error(`Secret ${name} holds no readable private key in tls.key: delete it, and a new one is made`);
  }
}
