import { Secret } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../kube/client.ts';
import type { SecretObject } from '../pki/secret.ts';
import type { StoreReader } from './store-access.ts';

/**
 * Reads from the management cluster with the permissions of this client.
 * @param namespace the namespace of the HostedControlPlane
 */
export function storeReaderOf(
  client: Pick<KubeClient, 'find' | 'serviceAccountToken'>,
  namespace: string,
): StoreReader {
  return {
    secret: (name) => client.find<SecretObject>(Secret, name),
    serviceAccountToken: (name, audience) => client.serviceAccountToken({ namespace, name }, audience),
  };
}
