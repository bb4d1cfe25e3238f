import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import { readRequestedCertificate } from '../../../reconciler/signer/requested-certificate.ts';
import type { ClientCertificateRequest } from '../../../reconciler/signer/request.ts';
import { clientCertificateRequest } from '../../support/client-certificate-request.ts';
import { encodedRequest } from '../../support/encoded-request.ts';

const asked = async (changes: Partial<ClientCertificateRequest['spec']>) =>
  readRequestedCertificate(await clientCertificateRequest(changes));
const named = async (...names: x509.JsonName) => ({ request: await encodedRequest(names) });

describe('a request for a client certificate asks for', () => {
  it('the own user name for eight hours, if it says nothing else', async () => {
    const eightHours = 8 * 60 * 60_000;
    expect(await asked({})).toMatchObject({ user: 'jane', groups: [], lifetimeMs: eightHours, isOwn: true });
  });

  it('a group of the requester', async () => {
    const subject = await named({ O: ['developers'] }, { CN: ['jane'] });
    expect(await asked(subject)).toMatchObject({ groups: ['developers'], isOwn: true });
  });

  it.each<[string, x509.JsonName]>([
    ['another user', [{ CN: ['john'] }]],
    ['a group that the requester is not in', [{ O: ['developers', 'auditors'] }, { CN: ['jane'] }]],
    ['the administrators of kubeadm', [{ O: ['kubeadm:cluster-admins'] }, { CN: ['jane'] }]],
  ])('%s, which needs the right to impersonate', async (_, names) => {
    expect(await asked(await named(...names))).toMatchObject({ isOwn: false });
  });

  it('a lifetime, and has an RSA key', async () => {
    const rsa = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', publicExponent: new Uint8Array([1, 0, 1]) };
    const request = await encodedRequest([{ CN: ['jane'] }], [], { ...rsa, modulusLength: 2048 });
    const usages = ['client auth', 'digital signature', 'key encipherment'];
    expect(await asked({ request, usages, expirationSeconds: 600 })).toMatchObject({ lifetimeMs: 600_000 });
    const weak = await encodedRequest([{ CN: ['jane'] }], [], { ...rsa, modulusLength: 1024 });
    expect(await asked({ request: weak })).toMatchObject({
      objection: expect.stringMatching(/key that is not RSA of/) as string,
    });
  });
});

describe('for no requester anything is signed that', () => {
  const alternativeNames = (...names: x509.JsonGeneralName[]) =>
    encodedRequest([{ CN: ['jane'] }], [new x509.SubjectAlternativeNameExtension(names)]);
  it.each<[string, () => Promise<Partial<ClientCertificateRequest['spec']>>, RegExp]>([
    [
      'may do everything',
      () => named({ O: ['system:masters'] }, { CN: ['jane'] }),
      /asks for system:masters, .* Kubernetes/,
    ],
    ['is a node', () => named({ CN: ['system:node:n1'] }), /asks for system:node:n1/],
    [
      'is the operator in the hosted cluster',
      () => named({ CN: ['hosted-control-plane-controller'] }),
      /name of a component/,
    ],
    [
      'is the API server to its kubelets',
      () => named({ CN: ['kube-apiserver-kubelet-client'] }),
      /name of a component/,
    ],
    ['names two users', () => named({ CN: ['jane'] }, { CN: ['john'] }), /2 common names/],
    ['has a name as long as a message', () => named({ CN: ['j'.repeat(254)] }), /longer than 253/],
    [
      'is in many groups',
      () => named({ O: Array.from({ length: 17 }, (_, n) => `g${n}`) }, { CN: ['jane'] }),
      /17 groups, more than 16/,
    ],
    ['names no user', () => named({ O: ['developers'] }), /0 common names/],
    ['has more in its subject', () => named({ CN: ['jane'] }, { OU: ['system:masters'] }), /OU in its subject/],
    [
      'has a host name',
      async () => ({ request: await alternativeNames({ type: 'dns', value: 'kubernetes' }) }),
      /alternative names/,
    ],
    [
      'has a mail address',
      async () => ({ request: await alternativeNames({ type: 'email', value: 'j@example.org' }) }),
      /alternative names/,
    ],
    [
      'can serve',
      async () => ({ usages: ['client auth', 'digital signature', 'server auth'] }),
      /server auth instead of/,
    ],
    ['is no client', async () => ({ usages: ['digital signature'] }), /has usages digital signature instead/],
    ['lasts more than a week', async () => ({ expirationSeconds: 604_801 }), /604801 s, more than 168h/],
    ['is no request', async () => ({ request: 'bm90IGEgcmVxdWVzdA==' }), /not a readable PKCS #10/],
    ['was too long to be kept', async () => ({ request: '' }), /longer than 16 KiB/],
    [
      'hides what follows its name in a terminal',
      () => named({ CN: ['jane\nO=developers'] }),
      /or has control characters/,
    ],
    [
      'wants to be a CA',
      async () => ({ request: await encodedRequest([{ CN: ['jane'] }], [new x509.BasicConstraintsExtension(true)]) }),
      /not a readable PKCS #10/,
    ],
  ])('%s', async (_, changes, objection) => {
    expect(await asked(await changes())).toEqual({ objection: expect.stringMatching(objection) as string });
  });
});
