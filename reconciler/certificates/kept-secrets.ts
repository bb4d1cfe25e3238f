import { keptAnnotation } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { namesOf, successorSecretName } from '../../constructs/cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Writer } from '../clusters/management/view.ts';
import type { SecretProps } from '../pki/secret.ts';

/**
 * The Secrets without which retained volumes are useless: the keys with which Secrets in etcd are encrypted, and the CAs
 * and the key that workers and tokens depend on, with their successors during a rotation, which components trust or
 * present already. A deletion that retains the volumes keeps them too, without owner.
 */
export function keptSecrets(cluster: string): readonly string[] {
  const { encryption, clusterCA, etcdCA, frontProxyCA, serviceAccount } = namesOf(cluster).secrets;
  const pairs = [clusterCA, etcdCA, frontProxyCA, serviceAccount];
  return [encryption, ...pairs, ...pairs.map(successorSecretName)];
}

/** Makes this HostedControlPlane the owner of a Secret that the deletion of an earlier one has kept. */
export async function takeBack(
  { writer }: { readonly writer: Pick<Writer, 'setFields'> },
  secret: KubeObject,
  { owner }: Pick<SecretProps, 'owner'>,
): Promise<void> {
  // Another Secret without owner is a user's, and never becomes that of the operator.
  if (secret.metadata.annotations?.[keptAnnotation] !== 'true') return;
  const fields = { ownerReferences: [owner], annotations: { [keptAnnotation]: 'false' } };
  await writer.setFields(Secret, secret, fields, 'owner');
}
