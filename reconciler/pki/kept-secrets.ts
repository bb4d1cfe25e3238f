import { fieldManager } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { managedByLabel } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Writer } from '../management/view.ts';
import type { SecretProps } from './secret.ts';

/**
 * The Secrets without which retained volumes are useless: the keys with which Secrets in etcd are encrypted, and the CAs
 * and the key that workers and tokens depend on. A deletion that retains the volumes keeps them too, without owner.
 */
export function keptSecrets(cluster: string): readonly string[] {
  const { encryption, clusterCA, etcdCA, frontProxyCA, serviceAccount } = namesOf(cluster).secrets;
  return [encryption, clusterCA, etcdCA, frontProxyCA, serviceAccount];
}

/** Makes this HostedControlPlane the owner of a Secret that the deletion of an earlier one has kept. */
export async function takeBack(
  { writer }: { readonly writer: Pick<Writer, 'setFields'> },
  secret: KubeObject,
  { owner }: Pick<SecretProps, 'owner'>,
): Promise<void> {
  const { labels, ownerReferences = [] } = secret.metadata;
  // A user's own Secret never becomes that of the operator.
  if (labels?.[managedByLabel] !== fieldManager || ownerReferences.length > 0) return;
  await writer.setFields(Secret, secret, { ownerReferences: [owner] }, 'owner');
}
