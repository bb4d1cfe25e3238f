import type { SecretObject } from '../../../imports/kubernetes.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { namesOf, successorSecretName } from '../../../constructs/cluster/names.ts';
import type { HostedAccess } from '../../clusters/hosted/hosted-client.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import type { Work } from '../../engine/tasks/background-work.ts';
import type { Clock } from '../../kube/clock.ts';
import { isControlledBy } from '../../kube/object.ts';
import { createServiceAccountKey, type KeyPair } from '../../pki/issue.ts';
import { bundle } from '../../pki/pem.ts';
import { keyProblem } from '../../pki/reissue-policy.ts';
import { encodedData, pairOf, pairSecret, type SecretProps } from '../../pki/secret.ts';
import { type VerifyingKey, verifyingKeysOf } from '../../pki/service-account-keys.ts';
import { answering, type RotationRequest } from '../rotation-request.ts';

/** What a rotation of the service account key needs. */
export interface KeyRotationContext extends ControlPlaneContext, HostedAccess {
  readonly work: Work;
  readonly clock: Clock;
}

/** The service account keys in a Secret. */
export interface StoredServiceAccountKeys {
  readonly secret: SecretObject;
  /** The first one signs. */
  readonly keys: readonly [VerifyingKey, ...VerifyingKey[]];
  readonly pair: KeyPair;
  /** Created by the operator, not by a user. */
  readonly isControlled: boolean;
}

/** Name of the Secret with the successor of a key. */
export function successorSecretOf(cluster: string): string {
  return successorSecretName(namesOf(cluster).secrets.serviceAccount);
}

/** The problem with the keys in a Secret, as a sentence for the user; undefined if they are usable. */
export function problemOf(secret: SecretObject): string | undefined {
  return keyProblem(secret.metadata.name, pairIn(secret));
}

/** Reads a Secret with keys. @throws if they have a problem, see {@link problemOf} */
export function readServiceAccountKeys(
  secret: SecretObject,
  { hostedControlPlane }: Pick<KeyRotationContext, 'hostedControlPlane'>,
): StoredServiceAccountKeys {
  const pair = pairIn(secret);
  const [signer, ...others] = verifyingKeysOf(pair.certificate);
  if (!signer) throw new Error(`Secret ${secret.metadata.name} contains no public key in tls.crt`);
  const isControlled = isControlledBy(secret, hostedControlPlane.metadata.uid);
  return { secret, keys: [signer, ...others], pair, isControlled };
}

function pairIn(secret: SecretObject): KeyPair {
  return pairOf(secret) ?? { certificate: '', key: '' };
}

/**
 * The Secret with other public keys in another order, and the private key of the first.
 * @param ids of the keys, each of which is one of `known`
 */
export function withKeys(
  { secret }: StoredServiceAccountKeys,
  ids: readonly string[],
  { known, key }: { readonly known: readonly VerifyingKey[]; readonly key: string },
): RenderedObject {
  const { name, namespace, resourceVersion } = secret.metadata;
  const certificate = bundle(...ids.flatMap((id) => known.find((one) => one.id === id)?.pem ?? []));
  return {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    // With its version, an apply fails if another client, such as a previous operator, has written since.
    metadata: { name, ...definedOnly({ namespace, resourceVersion }) },
    ...(secret.type ? { type: secret.type } : {}),
    data: encodedData({ 'tls.crt': certificate, 'tls.key': key }),
  };
}

/** A Secret with a new key, and the request for which it was created. */
export async function successorSecret(props: SecretProps, request: RotationRequest): Promise<RenderedObject> {
  const { metadata, ...rest } = pairSecret(props, 'clusterApi', createServiceAccountKey());
  return { ...rest, metadata: { ...metadata, annotations: answering(request) } };
}
