import { requestedForLabel } from '../../../constructs/api/group.ts';
import { CertificateRequest, Secret } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { requestSecretName } from '../../../constructs/cluster/names.ts';
import type { ControlPlaneContext } from '../../management/view.ts';
import type { SecretObject } from '../secret.ts';
import { requestedFor } from './request-key.ts';

/** Takes away what was kept to ask an issuer, once the authority it was for is stored. */
export async function clearRequests(scope: ControlPlaneContext): Promise<void> {
  const { cluster, reader } = scope;
  for (const kept of reader.list<SecretObject>(Secret, selectorLabels(cluster.name, 'certificates'))) {
    const secret = requestedFor(kept);
    if (secret !== undefined && reader.get(Secret, secret)) await withdraw(scope, secret, kept);
  }
}

/** Takes away what is kept to ask an issuer for an authority that nobody wants any more. */
export async function withdrawRequest(scope: ControlPlaneContext, secret: string): Promise<void> {
  const kept = scope.reader.get<SecretObject>(Secret, requestSecretName(secret));
  if (kept && requestedFor(kept) === secret) await withdraw(scope, secret, kept);
}

/** The requests first and the key last: by the key it is known that there is something to take away. */
async function withdraw({ reader, writer }: ControlPlaneContext, secret: string, kept: SecretObject): Promise<void> {
  for (const request of reader.list(CertificateRequest, { [requestedForLabel]: secret })) {
    await writer.delete(CertificateRequest, request);
  }
  await writer.delete(Secret, kept);
}
