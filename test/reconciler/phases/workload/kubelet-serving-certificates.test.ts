import { describe, expect, it } from 'vitest';
import type { CertificateRequest } from '../../../../reconciler/hosted/certificate-request.ts';
import { HostedClusterNotReady } from '../../../../reconciler/hosted/not-ready.ts';
import { kubeletServingCertificates } from '../../../../reconciler/phases/workload/kubelet-serving-certificates.ts';
import type { HostedClient } from '../../../../reconciler/hosted/hosted-client.ts';
import { kubeletRequest } from '../../../support/kubelet-request.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { scopeOf } from '../../../support/scope.ts';

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  status: { addresses: ['n1', '192.0.2.21'].map((address) => ({ type: 'any', address })) },
};

/** What comes of these requests, and which of them are approved. */
async function run(requests: readonly CertificateRequest[] | undefined, changes: Partial<HostedClient> = {}) {
  const approved: string[] = [];
  const hosted: Partial<HostedClient> = {
    certificateRequests: () => requests,
    node: async (name) => (name === 'n1' ? node : undefined),
    approve: async ({ metadata }) => void approved.push(metadata.name),
    ...changes,
  };
  const outcome = await kubeletServingCertificates.run(scopeOf(new MemoryObjects(), { facts: knownFacts, hosted }));
  return { outcome, approved };
}

describe('requests of kubelets for certificates to serve with', () => {
  it('are approved when they ask for their own, and others are left alone', async () => {
    const others = { name: 'client', signerName: 'kubernetes.io/kube-apiserver-client-kubelet' };
    const { outcome, approved } = await run([await kubeletRequest(), await kubeletRequest(others)]);
    expect(approved).toEqual(['csr-1']);
    expect(outcome.kind).toBe('done');
  });

  it('are told of when they ask for more, and looked at again at the time that they have waited', async () => {
    const forged = await kubeletRequest({ name: 'forged', hosts: ['192.0.2.99'] });
    const { outcome, approved } = await run([await kubeletRequest(), forged]);
    expect(approved).toEqual(['csr-1']);
    expect(outcome).toMatchObject({
      kind: 'degraded',
      reason: 'RequestNotApproved',
      message: expect.stringContaining(
        'CertificateSigningRequest forged contains 192.0.2.99, which Node n1 does not have',
      ),
      requeueAt: new Date('2026-11-21T12:00:30Z'),
    });
  });

  it('fill no message however many there are', async () => {
    const forged = await Promise.all(
      Array.from({ length: 9 }, (_, i) => kubeletRequest({ name: `forged-${i}`, hosts: ['192.0.2.99'] })),
    );
    const { outcome } = await run(forged);
    expect(outcome).toMatchObject({ message: expect.stringContaining('; and 6 more') });
  });

  it('cost nothing when there are none', async () => {
    const unasked = () => Promise.reject(new Error('asked'));
    expect((await run([], { node: unasked })).outcome.kind).toBe('done');
  });

  it('are waited for until they have been listed', async () => {
    expect((await run(undefined)).outcome).toMatchObject({ kind: 'wait', reason: 'WaitingForAPIServer' });
  });

  it('wait for an API server that is away', async () => {
    const node = () => Promise.reject(new HostedClusterNotReady('does not answer', 500, undefined));
    const { outcome } = await run([await kubeletRequest()], { node });
    expect(outcome).toMatchObject({ kind: 'wait', reason: 'WaitingForAPIServer', afterMs: 500 });
  });
});
