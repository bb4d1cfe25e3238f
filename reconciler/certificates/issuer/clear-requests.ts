import type { SecretObject } from '../../../imports/kubernetes.ts';
import { requestedForLabel } from '../../../constructs/api/group.ts';
import { CertificateRequest, Secret } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { requestSecretName } from '../../../constructs/cluster/names.ts';
import { isControlledBy } from '../../kube/object.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import { requestedFor } from './certificate-request.ts';

/** Deletes the objects for the request to an issuer, once its CA is stored. */
export async function clearRequests(scope: ControlPlaneContext): Promise<void> {
  const { cluster, reader } = scope;
  for (const kept of reader.list<SecretObject>(Secret, selectorLabels(cluster.name, 'certificates'))) {
    const secret = requestedFor(kept);
    if (secret !== undefined && reader.get(Secret, secret)) await withdraw(scope, secret, kept);
  }
}

/** Deletes the objects for the request to an issuer, if the CA is no longer needed. */
export async function withdrawRequest(scope: ControlPlaneContext, secret: string): Promise<void> {
  const kept = scope.reader.get<SecretObject>(Secret, requestSecretName(secret));
  if (kept && requestedFor(kept) === secret) await withdraw(scope, secret, kept);
}

/** Deletes the requests first and the key last, because the key shows that there is something to delete. */
async function withdraw(scope: ControlPlaneContext, secret: string, kept: SecretObject): Promise<void> {
  const { hostedControlPlane, reader, writer } = scope;
  // A label makes no Secret of a user one of the operator.
  if (!isControlledBy(kept, hostedControlPlane.metadata.uid)) return;
  for (const request of reader.list(CertificateRequest, { [requestedForLabel]: secret })) {
    await writer.delete(CertificateRequest, request);
  }
  await writer.delete(Secret, kept);
}
