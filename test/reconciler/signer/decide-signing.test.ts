import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { requestLabels } from '../../../constructs/api/kubeconfig-request.ts';
import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { Reviewer } from '../../../reconciler/clusters/dry-run/review.ts';
import { createCA, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { bundle, splitCertificates } from '../../../reconciler/pki/pem.ts';
import { decideSigning, type SigningInput } from '../../../reconciler/signer/decide-signing.ts';
import { isAnswered, kept } from '../../../reconciler/signer/request.ts';
import { clientCertificateRequest } from '../../support/client-certificate-request.ts';
import { encodedRequest } from '../../support/encoded-request.ts';

const now = new Date('2026-11-21T12:00:00Z');
let ca: KeyPair;
let next: KeyPair;
beforeAll(async () => {
  ca = await createCA({ commonName: 'kubernetes' }, validFor(1e10, now));
  next = await createCA({ commonName: 'kubernetes' }, validFor(1e10, now));
});

const prod: KubeObject = {
  apiVersion: HostedControlPlane.apiVersion,
  kind: HostedControlPlane.kind,
  metadata: {
    namespace: 'team-a',
    name: 'prod-cp',
    ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'prod', uid: 'u' }],
  },
};

/** What a user may do, as `verb user namespace/name`. */
class Rights {
  readonly asked: string[] = [];
  granted: readonly string[] = ['create jane team-a/prod-cp'];
  readonly reviewer = {
    create: async ({ spec }: { spec: { user: string; resourceAttributes: Record<string, string> } }) => {
      const { verb, namespace, name, resource, subresource } = spec.resourceAttributes;
      const what = `${verb} ${spec.user} ${namespace}/${name}`;
      this.asked.push(`${resource}/${subresource}: ${what}`);
      return { status: { allowed: this.granted.includes(what) } };
    },
  } as unknown as Reviewer;
}

function inputWith({
  pair = ca,
  object = prod,
  ...others
}: Partial<SigningInput> & { pair?: KeyPair; object?: KubeObject } = {}) {
  const rights = new Rights();
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const secret = { data: { 'tls.crt': encoded(pair.certificate), 'tls.key': encoded(pair.key) } };
  const management = {
    list: () => [object],
    get: (_: unknown, { namespace, name }: { namespace?: string | undefined; name: string }) =>
      namespace === 'team-a' && name === 'prod-ca' ? (secret as unknown as KubeObject) : undefined,
  };
  const input: SigningInput = { management, answersFor: () => true, reviewer: rights.reviewer, now, ...others };
  return { rights, input };
}

describe('a request for a client certificate', () => {
  it('is signed for its requester, by the first CA, together with all that verify the API server', async () => {
    const { input, rights } = inputWith({ pair: { ...ca, certificate: bundle(ca.certificate, next.certificate) } });
    const answer = await decideSigning(await clientCertificateRequest({ expirationSeconds: 3600 }), input);
    if (answer.kind !== 'signed') throw new Error(`not signed: ${JSON.stringify(answer)}`);
    expect(rights.asked).toEqual(['hostedcontrolplanes/kubeconfig: create jane team-a/prod-cp']);
    const [leaf = '', ...trusted] = splitCertificates(answer.signed.certificates);
    expect(trusted).toEqual(splitCertificates(bundle(ca.certificate, next.certificate)));
    const certificate = new X509Certificate(leaf);
    expect(certificate.verify(new X509Certificate(ca.certificate).publicKey)).toBe(true);
    expect(certificate.subject).toBe('CN=jane');
    expect(answer.signed.notAfter).toEqual(new Date(now.getTime() + 3_600_000));
  });

  it('for another user is signed only with the right to impersonate', async () => {
    const { input, rights } = inputWith();
    const request = await clientCertificateRequest({ request: await encodedRequest([{ CN: ['john'] }]) });
    expect(await decideSigning(request, input)).toEqual({
      kind: 'denied',
      reason: 'NotPermitted',
      message: expect.stringMatching(
        /^user jane may not impersonate hostedcontrolplanes\/kubeconfig in namespace team-a, .*leave them out$/,
      ) as string,
    });
    rights.granted = ['create jane team-a/prod-cp', 'impersonate jane team-a/prod-cp'];
    expect(await decideSigning(request, input)).toMatchObject({ kind: 'signed', signed: { user: 'john' } });
  });

  it('beyond the limits of its requester is denied, and says what to do', async () => {
    const { input, rights } = inputWith();
    const request = { ...(await clientCertificateRequest({ request: '' })), isBeyond: true } as const;
    expect(await decideSigning(request, input)).toEqual({
      kind: 'denied',
      reason: 'TooManyRequests',
      message: expect.stringContaining('request again in a minute') as string,
    });
    expect(rights.asked).toEqual([]);
    expect(
      await decideSigning(request, {
        ...input,
        answersFor: () => false,
        management: { ...input.management, list: () => [] },
      }),
    ).toEqual({ kind: 'none' });
  });

  it('of a user without rights is denied in the same words, whether the control plane exists or not', async () => {
    const answers = await Promise.all(
      [prod, { ...prod, metadata: { ...prod.metadata, namespace: 'team-b' } }].map(async (object) => {
        const { input } = inputWith({ object });
        return decideSigning(
          await clientCertificateRequest({ username: 'mallory', request: await encodedRequest([{ CN: ['mallory'] }]) }),
          input,
        );
      }),
    );
    expect(answers[0]).toMatchObject({ kind: 'denied', reason: 'NotPermitted' });
    expect(answers[1]).toEqual(answers[0]);
  });

  it.each<[string, object, string]>([
    ['that is being deleted', { deletionTimestamp: '2026-11-26T11:00:00Z' }, 'Deleting'],
    ['of another Cluster', { ownerReferences: [] }, 'NotPermitted'],
  ])('for a control plane %s is denied', async (_, metadata, reason) => {
    const { input } = inputWith({ object: { ...prod, metadata: { ...prod.metadata, ...metadata } } });
    expect(await decideSigning(await clientCertificateRequest(), input)).toMatchObject({ kind: 'denied', reason });
  });

  it('for no control plane is denied to those who may have one, and left to other operators if there are any', async () => {
    const { input, rights } = inputWith({
      object: { ...prod, metadata: { ...prod.metadata, namespace: 'team-b' } },
    });
    rights.granted = ['create jane team-a/prod'];
    const request = await clientCertificateRequest();
    expect(await decideSigning(request, input)).toMatchObject({ kind: 'denied', reason: 'NotFound' });
    expect(await decideSigning(request, { ...input, answersFor: () => false })).toEqual({ kind: 'none' });
  });

  it('is denied when the CA is missing, or cannot sign, without a word of its key', async () => {
    const request = await clientCertificateRequest();
    const { input } = inputWith();
    const without = { ...input, management: { ...input.management, get: () => undefined } };
    expect(await decideSigning(request, without)).toMatchObject({ kind: 'denied', reason: 'NotReady' });
    const answer = await decideSigning(request, inputWith({ pair: { ...ca, key: next.key } }).input);
    expect(answer).toMatchObject({ kind: 'denied', reason: 'CAUnusable' });
    expect(JSON.stringify(answer)).not.toContain(next.key.split('\n')[1]);
  });

  it('that has waited for long is denied, because the rights of its requester may have changed', async () => {
    const late = new Date('2026-11-21T12:09:31Z');
    expect(await decideSigning(await clientCertificateRequest(), inputWith({ now: late }).input)).toMatchObject({
      kind: 'denied',
      reason: 'Expired',
    });
  });

  it('for a Cluster that two control planes claim is denied: the right to one is no right to the other', async () => {
    const { input, rights } = inputWith();
    const other = { ...prod, metadata: { ...prod.metadata, name: 'other-cp' } };
    const both = { ...input, management: { ...input.management, list: () => [prod, other] } };
    expect(await decideSigning(await clientCertificateRequest(), both)).toMatchObject({ reason: 'Ambiguous' });
    rights.granted = [];
    expect(await decideSigning(await clientCertificateRequest(), both)).toMatchObject({ reason: 'NotPermitted' });
  });

  it('for the control plane of another namespace is denied to those who have the right in their own', async () => {
    const object = { ...prod, metadata: { ...prod.metadata, namespace: 'team-b' } };
    const request = await clientCertificateRequest({}, requestLabels('team-b', 'prod'));
    expect(await decideSigning(request, inputWith({ object }).input)).toMatchObject({ reason: 'NotPermitted' });
  });

  it('is read only once its requester may have a certificate', async () => {
    const { input, rights } = inputWith();
    rights.granted = [];
    const unreadable = await clientCertificateRequest({ request: 'bm90IGEgcmVxdWVzdA==' });
    expect(await decideSigning(unreadable, input)).toMatchObject({ reason: 'NotPermitted' });
  });

  it('of a program says how programs get a kubeconfig', async () => {
    const { input, rights } = inputWith();
    const username = 'system:serviceaccount:team-a:ci';
    rights.granted = [`create ${username} team-a/prod-cp`];
    const answer = await decideSigning(await clientCertificateRequest({ username }), input);
    expect(answer).toMatchObject({ message: expect.stringContaining('spec.kubeconfigs') as string });
  });

  it('without the labels that name its Cluster is denied, and says which', async () => {
    const answer = await decideSigning(await clientCertificateRequest({}, {}), inputWith().input);
    expect(answer).toMatchObject({
      reason: 'InvalidRequest',
      message: expect.stringContaining('cluster.x-k8s.io/cluster-name') as string,
    });
  });

  it('is not denied when the API server does not decide: the operator asks again', async () => {
    const reviewer = { create: () => Promise.reject(new Error('away')) } as unknown as Reviewer;
    await expect(decideSigning(await clientCertificateRequest(), inputWith({ reviewer }).input)).rejects.toThrow(
      'away',
    );
  });
});

describe('of a request the operator keeps', () => {
  const filled = async (status?: object): Promise<KubeObject> => {
    const { metadata, ...request } = await clientCertificateRequest({ extra: { a: ['b'] } });
    const labels = { ...metadata.labels, more: 'x'.repeat(60) };
    return {
      ...request,
      metadata: { ...metadata, labels, annotations: { a: 'b' } },
      ...(status && { status }),
    };
  };

  it('what it needs for an answer, and nothing else that the creator has filled', async () => {
    const { metadata, spec } = kept(await filled({ conditions: [{ type: 'Approved' }] }));
    expect(metadata.labels).toEqual(requestLabels('team-a', 'prod'));
    expect(metadata.annotations).toBeUndefined();
    expect(spec).toMatchObject({ username: 'jane', extra: { a: ['b'] } });
    expect(spec.request).not.toBe('');
  });

  it.each([{ certificate: 'eHh4eHh4' }, { conditions: [{ type: 'Denied', message: 'no' }] }])(
    'only that it is answered: %o',
    async (status) => {
      const answered = kept(await filled(status));
      expect(isAnswered(answered)).toBe(true);
      expect(JSON.stringify(answered).length).toBeLessThan(300);
    },
  );

  it('no content that is longer than what it signs', async () => {
    const request = await clientCertificateRequest({ request: 'x'.repeat(16_385) });
    expect(kept(request).spec.request).toBe('');
  });
});
