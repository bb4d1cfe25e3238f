import { describe, expect, it } from 'vitest';
import { keptRequest } from '../../../reconciler/hosted/kept-request.ts';
import type { CertificateRequest } from '../../../reconciler/kube/certificate-request.ts';
import { keptNode } from '../../../reconciler/hosted/node-object.ts';
import { objection } from '../../../reconciler/kubelet-serving/plan.ts';
import { kubeletRequest } from '../../support/kubelet-request.ts';

const evidence = {
  nodeAddresses: ['n1', '192.0.2.21'].map((address) => ({ type: 'any', address })),
  machines: [],
  isReserved: () => false,
};
const large = 'x'.repeat(1024 * 1024);

describe('of a signing request in a hosted cluster', () => {
  it('all that an approval depends on is kept', async () => {
    const request = await kubeletRequest();
    expect(objection(keptRequest(request), evidence)).toBeUndefined();
    const ofUser: CertificateRequest = { ...request, spec: { ...request.spec, groups: ['others'] } };
    expect(objection(keptRequest(ofUser), evidence)).toContain('which is not a kubelet');
  });

  it('nothing is kept that its creator can fill without need', async () => {
    const request = await kubeletRequest({ groups: ['system:nodes', large] });
    const filled = {
      ...request,
      metadata: { ...request.metadata, annotations: { large }, labels: { large }, finalizers: [large] },
      spec: { ...request.spec, extra: { large: [large] } },
      status: { conditions: [{ type: 'Approved', status: 'True', message: large }], certificate: 'pem' },
    };
    const kept = keptRequest(filled);
    expect(JSON.stringify(kept).length).toBeLessThan(1024);
    expect(kept.status).toEqual({ conditions: [{ type: 'Approved', status: 'True' }], certificate: 'pem' });
  });

  it('a pending one that is too long is not kept, and the reason is told', async () => {
    const request = await kubeletRequest();
    const long: CertificateRequest = { ...request, spec: { ...request.spec, request: large } };
    const kept = keptRequest(long);
    expect(kept.spec.request).toBe('');
    expect(objection(kept, evidence)).toBe('is longer than 16 KiB');
  });
});

it('of a Node in a hosted cluster only its identity, age and annotations are kept', () => {
  const identity = { name: 'n1', uid: '1', resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:00Z' };
  const annotations = { note: 'one' };
  const metadata = { ...identity, annotations, labels: { large }, finalizers: [large] };
  expect(keptNode({ apiVersion: 'v1', kind: 'Node', metadata })).toEqual({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...identity, annotations },
  });
});
