import type { CertificateSigningRequestObject } from '../../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import { HostedClusterNotReady } from '../../../../reconciler/clusters/hosted/outage.ts';
import { kubeletServingCertificates } from '../../../../reconciler/phases/workload/kubelet-serving-certificates.ts';
import type { HostedClient } from '../../../../reconciler/clusters/hosted/hosted-client.ts';
import { kubeletRequest } from '../../../support/kubelet-request.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { settled } from '../../../support/manual-clock.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { scopeOf } from '../../../support/scope.ts';

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  status: { addresses: ['n1', '192.0.2.21'].map((address) => ({ type: 'any', address })) },
};

/** The outcome for these requests, and the approved ones. */
async function run(
  requests: readonly CertificateSigningRequestObject[] | undefined,
  changes: Partial<HostedClient> = {},
) {
  const approved: string[] = [];
  const hosted: Partial<HostedClient> = {
    watchProblem: () => undefined,
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

  it('wait without a problem while their Node does not exist, because it joins later or has left', async () => {
    const early = await kubeletRequest({ name: 'early', username: 'system:node:n2' });
    const { outcome, approved } = await run([await kubeletRequest(), early]);
    expect(approved).toEqual(['csr-1']);
    expect(outcome).toMatchObject({ kind: 'done', requeueAt: new Date('2026-11-21T12:00:30Z') });
    const foreign = await kubeletRequest({ name: 'foreign', username: 'somebody' });
    expect((await run([early, foreign])).outcome).toMatchObject({
      message: expect.stringMatching(
        /hosted cluster: CertificateSigningRequest foreign was created by somebody, [^;]*$/,
      ),
    });
  });

  it('fill a message up to a limit', async () => {
    const forged = await Promise.all(
      Array.from({ length: 9 }, (_, i) => kubeletRequest({ name: `forged-${i}`, hosts: ['192.0.2.99'] })),
    );
    const { outcome } = await run(forged);
    expect(outcome).toMatchObject({ message: expect.stringContaining('; and 6 more') });
  });

  it('of many Nodes cause few requests at a time, and one for each Node', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `n${index + 1}`);
    const requests = await Promise.all(
      [...names, ...names].map((name, index) =>
        kubeletRequest({ name: `csr-${index}`, username: `system:node:${name}` }),
      ),
    );
    const asked: string[] = [];
    let [running, most] = [0, 0];
    const node = async (name: string) => {
      asked.push(name);
      most = Math.max(most, ++running);
      await settled();
      running -= 1;
      return undefined;
    };
    await run(requests, { node });
    expect(asked.toSorted()).toEqual(names.toSorted());
    expect(most).toBeLessThanOrEqual(8);
  });

  it('are answered a hundred at a time, the newest first', async () => {
    const request = await kubeletRequest({ hosts: ['192.0.2.99'] });
    const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 11, 0, seconds)).toISOString().replace('.000', '');
    const old = Array.from({ length: 300 }, (_, index) => ({
      ...request,
      metadata: { name: `old-${index}`, creationTimestamp: at(index) },
    }));
    const newest = await kubeletRequest({ name: 'newest' });
    const looked: string[] = [];
    const { outcome, approved } = await run(
      [...old, newest].map((one) => ({
        ...one,
        spec: {
          ...one.spec,
          get usages() {
            looked.push(one.metadata.name);
            return one.spec.usages ?? [];
          },
        },
      })),
    );
    expect(approved).toEqual(['newest']);
    expect(new Set(looked).size).toBe(100);
    expect(outcome).toMatchObject({ message: expect.stringContaining('; and 297 more') });
  });

  it('are parsed once, however often they are looked at', async () => {
    const request = await kubeletRequest({ hosts: ['192.0.2.99'] });
    let reads = 0;
    const counted = {
      ...request,
      spec: {
        ...request.spec,
        get request() {
          reads += 1;
          return request.spec.request;
        },
      },
    };
    for (let pass = 0; pass < 3; pass++) expect((await run([counted])).outcome.kind).toBe('degraded');
    expect(reads).toBe(1);
  });

  it('cause no requests if there are none', async () => {
    const unasked = () => Promise.reject(new Error('asked'));
    expect((await run([], { node: unasked })).outcome.kind).toBe('done');
  });

  it('are waited for until they have been listed', async () => {
    expect((await run(undefined)).outcome).toMatchObject({ kind: 'wait', reason: 'NotObserved' });
  });

  it('are reported as unknown while the hosted cluster sends more than the operator holds', async () => {
    const watchProblem = () => 'list certificatesigningrequests: the answer is larger than 16 MiB';
    expect((await run(undefined, { watchProblem })).outcome).toMatchObject({
      kind: 'degraded',
      reason: 'HostedClusterTooLarge',
      message: expect.stringContaining(
        'list certificatesigningrequests: the answer is larger than 16 MiB. It approves',
      ),
    });
  });

  it('wait while the API server does not answer', async () => {
    const node = () => Promise.reject(new HostedClusterNotReady('does not answer', 500, undefined));
    const { outcome } = await run([await kubeletRequest()], { node });
    expect(outcome).toMatchObject({ kind: 'wait', reason: 'WaitingForAPIServer', afterMs: 500 });
  });
});
