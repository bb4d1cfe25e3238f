import type { CertificateSigningRequestObject } from '../../imports/kubernetes.ts';
import 'reflect-metadata';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import { encodedRequest } from './encoded-request.ts';

/** Fields in which a kubelet's serving certificate request differs from a valid one for Node `n1` at 192.0.2.21. */
export interface KubeletRequestChanges {
  readonly name?: string;
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly subject?: x509.JsonName;
  readonly hosts?: readonly string[];
  readonly otherNames?: readonly x509.JsonGeneralName[];
  readonly usages?: readonly string[];
  readonly signerName?: string;
  readonly extensions?: readonly x509.Extension[];
  readonly conditions?: readonly { readonly type: string }[];
}

/** A CertificateSigningRequest as a kubelet creates it. */
export async function kubeletRequest(changes: KubeletRequestChanges = {}) {
  const { hosts = ['n1', '192.0.2.21'], otherNames = [], extensions = [] } = changes;
  const names = hosts.map((value): x509.JsonGeneralName => ({ type: isIP(value) ? 'ip' : 'dns', value }));
  const request = await encodedRequest(changes.subject ?? [{ O: ['system:nodes'] }, { CN: ['system:node:n1'] }], [
    ...(names.length + otherNames.length > 0
      ? [new x509.SubjectAlternativeNameExtension([...names, ...otherNames])]
      : []),
    ...extensions,
  ]);
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: changes.name ?? 'csr-1', uid: 'uid-of-csr-1', creationTimestamp: '2026-11-21T11:59:30Z' },
    spec: {
      request,
      signerName: changes.signerName ?? 'kubernetes.io/kubelet-serving',
      username: changes.username ?? 'system:node:n1',
      groups: changes.groups ?? ['system:nodes', 'system:authenticated'],
      usages: changes.usages ?? ['digital signature', 'server auth'],
    },
    ...(changes.conditions && { status: { conditions: changes.conditions } }),
  } satisfies CertificateSigningRequestObject;
}
