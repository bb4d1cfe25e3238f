import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { inMachine, type Machine } from '../../tools/testbed/machine.ts';

/** A CertificateSigningRequest `name` for the client certificate of a node, as its kubelet creates it. */
export async function nodeCertificateRequest(name: string, node: string): Promise<object> {
  const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ O: ['system:nodes'] }, { CN: [`system:node:${node}`] }],
    keys: await crypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify']),
    signingAlgorithm,
  });
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(request.toString('pem')).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    },
  };
}

/** Sends it from the node's own machine, with the credentials of its kubelet. */
export async function requestAsNode(machine: Machine, request: object): Promise<void> {
  const kubectl = ['kubectl', '--kubeconfig', '/etc/kubernetes/kubelet.conf', 'create', '--filename', '-'] as const;
  await inMachine(machine, kubectl, { input: JSON.stringify(request) });
}
