import { requestedForLabel } from '../../../constructs/api/group.ts';
import { CertificateRequest, Secret } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/control-plane/labels.ts';
import type { Scope } from '../../scope.ts';
import type { SecretObject } from '../secret.ts';
import { requestedFor } from './request-key.ts';

/**
 * Takes away what was kept to ask an issuer, once the authority it was for is stored: the requests first and the key
 * last, since by the key it is known that there is something to take away.
 */
export async function clearRequests({ cluster, world, writer }: Scope): Promise<void> {
  for (const kept of world.list<SecretObject>(Secret, selectorLabels(cluster.name, 'certificates'))) {
    const secret = requestedFor(kept);
    if (secret === undefined || !world.get(Secret, secret)) continue;
    for (const request of world.list(CertificateRequest, { [requestedForLabel]: secret })) {
      await writer.delete(CertificateRequest, request);
    }
    await writer.delete(Secret, kept);
  }
}
