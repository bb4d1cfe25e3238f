import type { CertificateSigningRequestObject } from '../../../imports/kubernetes.ts';
import { CertificateSigningRequest, Node } from '../../../constructs/api/resources.ts';
import { isPending } from '../../../reconciler/pki/certificate-signing-request.ts';
import { kubeletRequest } from '../kubelet-request.ts';
import type { MemoryCluster } from './memory-cluster.ts';

/** Lets the kubelet of a Node in the hosted cluster ask for its serving certificate. */
export async function askForCertificate({ hosted: { store } }: MemoryCluster): Promise<void> {
  const request = await kubeletRequest();
  store.put({ ...request, metadata: { ...request.metadata, uid: store.nextUid() } });
  const addresses = [
    { type: 'Hostname', address: 'n1' },
    { type: 'InternalIP', address: '192.0.2.21' },
  ];
  const { apiVersion, kind } = Node;
  const node = { apiVersion, kind, metadata: { name: 'n1', uid: store.nextUid() }, status: { addresses } };
  store.put(node);
}

/** Whether that request is answered. */
export function isAnswered({ hosted: { store } }: MemoryCluster): boolean {
  const request: unknown = store.find(CertificateSigningRequest, { name: 'csr-1' });
  return !isPending(request as CertificateSigningRequestObject);
}
