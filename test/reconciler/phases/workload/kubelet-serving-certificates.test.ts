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

/** The outcome for these requests, and the approved ones. */
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

describe('requests of kubelets for serving certificates', () => {
  it("are approved if they request only the kubelet's own names, and others are ignored", async () => {
    const others = { name: 'client', signerName: 'kubernetes.io/kube-apiserver-client-kubelet' };
    const { outcome, approved } = await run([await kubeletRequest(), await kubeletRequest(others)]);
    expect(approved).toEqual(['csr-1']);
    expect(outcome.kind).toBe('done');
  });

  it('are reported if they request more, and are evaluated again later', async () => {
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

  it('fill a message up to a limit', async () => {
    const forged = await Promise.all(
      Array.from({ length: 9 }, (_, i) => kubeletRequest({ name: `forged-${i}`, hosts: ['192.0.2.99'] })),
    );
    const { outcome } = await run(forged);
    expect(outcome).toMatchObject({ message: expect.stringContaining('; and 6 more') });
  });

  it('cause no requests if there are none', async () => {
    const unasked = () => Promise.reject(new Error('asked'));
    expect((await run([], { node: unasked })).outcome.kind).toBe('done');
  });

  it('are waited for until they have been listed', async () => {
    expect((await run(undefined)).outcome).toMatchObject({ kind: 'wait', reason: 'NotObserved' });
  });

  it('wait while the API server does not answer', async () => {
    const node = () => Promise.reject(new HostedClusterNotReady('does not answer', 500, undefined));
    const { outcome } = await run([await kubeletRequest()], { node });
    expect(outcome).toMatchObject({ kind: 'wait', reason: 'WaitingForAPIServer', afterMs: 500 });
  });
});
