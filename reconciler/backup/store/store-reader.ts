import type { SecretObject } from '../../../imports/kubernetes.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../kube/client.ts';
import { serviceAccountTokenFor } from './service-account-token.ts';
import type { Destinations } from '../../clusters/network/destinations.ts';
import type { StoreReader } from './store-access.ts';

/**
 * Reads from the management cluster for one HostedControlPlane, with the permissions of this client.
 */
export function storeReaderOf(
  client: Pick<KubeClient, 'find' | 'serviceAccountToken'>,
  hostedControlPlane: { readonly namespace: string; readonly name: string },
  destinations?: Destinations,
): StoreReader {
  return {
    destinations,
    secret: (name) => client.find<SecretObject>(Secret, name),
    serviceAccountToken: (serviceAccount, audience, tokenService) =>
      serviceAccountTokenFor({ hostedControlPlane, serviceAccount, audience, tokenService }, client),
  };
}
