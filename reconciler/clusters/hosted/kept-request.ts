import type { CertificateSigningRequestObject } from '../../../imports/kubernetes.ts';
import { groups } from '../../../constructs/cluster/workload-identities.ts';
import { itemsOf, textOf } from '../../../constructs/cluster/foreign-values.ts';
import { isPending, longestRequest } from '../../pki/certificate-signing-request.ts';
import type { KubeObject } from '../../kube/object.ts';

/**
 * What the operator keeps of a request, which users of the hosted cluster can fill: the request itself only while it is
 * pending and not longer than that of a kubelet, else an empty text.
 */
export function keptRequest(object: KubeObject): CertificateSigningRequestObject {
  const given = object as CertificateSigningRequestObject;
  const { name, uid, resourceVersion, creationTimestamp } = given.metadata;
  const { signerName, groups: member, usages } = given.spec ?? {};
  const request = textOf(given.spec?.request) ?? '';
  const { conditions, certificate } = given.status ?? {};
  return {
    apiVersion: given.apiVersion,
    kind: given.kind,
    metadata: { name, uid, resourceVersion, creationTimestamp },
    spec: {
      request: isPending(given) && request.length <= longestRequest ? request : '',
      signerName,
      username: textOf(given.spec?.username),
      groups: itemsOf(member).filter((group) => group === groups.nodes),
      usages: itemsOf(usages),
    },
    status: {
      conditions: itemsOf(conditions).map(({ type, status }) => ({ type, status })),
      certificate: textOf(certificate),
    },
  };
}
