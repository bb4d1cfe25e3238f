import type { CertificateSigningRequestObject } from '../../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import { fieldManager } from '../../../../constructs/api/group.ts';
import {
  keptApplied,
  keptIdentity,
  keptRequest,
  keptNode,
} from '../../../../reconciler/clusters/hosted/kept-objects.ts';
import { somePodAvailable } from '../../../../reconciler/kube/readiness.ts';
import { findPodProblem } from '../../../../reconciler/clusters/pods/pod-problem.ts';
import { poolOf } from '../../../../reconciler/certificates/workers/machines.ts';
import { refusedWorkloads } from '../../../../reconciler/clusters/pods/retry-refused.ts';
import { objection } from '../../../../reconciler/certificates/kubelets/plan-approval.ts';
import { kubeletRequest } from '../../../support/kubelet-request.ts';

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
    const ofUser: CertificateSigningRequestObject = { ...request, spec: { ...request.spec, groups: ['others'] } };
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
    const long: CertificateSigningRequestObject = { ...request, spec: { ...request.spec, request: large } };
    const kept = keptRequest(long);
    expect(kept.spec?.request).toBe('');
    expect(objection(kept, evidence)).toBe('is longer than 16 KiB');
  });
});

describe('of an object in a hosted cluster', () => {
  const identity = { name: 'n1', uid: '1', resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:00Z' };

  it('its identity and age are kept, and of a Node the annotations about its certificates and its Machine', () => {
    const annotations = { 'cluster.x-k8s.io/machine': 'm1', note: large };
    const metadata = { ...identity, annotations, labels: { large }, finalizers: [large] };
    expect(keptNode({ apiVersion: 'v1', kind: 'Node', metadata })).toEqual({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { ...identity, annotations: { 'cluster.x-k8s.io/machine': 'm1' } },
    });
    const filled = { ...metadata, annotations: { 'cluster.x-k8s.io/machine': large } };
    expect(JSON.stringify(keptNode({ apiVersion: 'v1', kind: 'Node', metadata: filled })).length).toBeLessThan(1024);
  });

  it('a Node of a MachinePool is known as one', () => {
    const annotations = { 'cluster.x-k8s.io/owner-kind': 'MachinePool', 'cluster.x-k8s.io/owner-name': 'workers' };
    expect(poolOf(keptNode({ apiVersion: 'v1', kind: 'Node', metadata: { ...identity, annotations } }))).toBe(
      'workers',
    );
  });

  it('that the operator has applied, what it judges and recognizes it by is kept, and nothing that a server can fill', () => {
    const sent = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'coredns', namespace: 'kube-system' } };
    const managedFields = [
      { manager: 'large', operation: 'Update', fieldsV1: { large: {} } },
      { manager: fieldManager, operation: 'Apply', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ] as const;
    const refusal = { type: 'ReplicaFailure', status: 'True', message: `quota ${large}` };
    const answer = {
      ...sent,
      metadata: { ...identity, name: large, generation: 3, labels: { large }, managedFields, uid: large },
      spec: { replicas: 2, template: { large } },
      status: {
        observedGeneration: 3,
        availableReplicas: 1,
        large,
        conditions: [{ type: large, status: large }, refusal],
      },
    };
    const kept = keptApplied(answer, sent);
    expect(JSON.stringify(kept).length).toBeLessThan(5_000);
    expect(kept.metadata).toMatchObject({
      name: 'coredns',
      namespace: 'kube-system',
      resourceVersion: '5',
      generation: 3,
    });
    const fingerprint: unknown = expect.stringMatching(/^[\w-]{22}$/);
    expect(kept.metadata.managedFields).toEqual([
      { manager: fieldManager, operation: 'Apply', fingerprint, applied: fingerprint },
    ]);
    expect(somePodAvailable(kept)).toEqual({ ready: true });
    const podProblem = findPodProblem({ pods: [], deployments: [kept], now: new Date() });
    expect(podProblem?.message).toContain('Deployment coredns: quota xxx');
  });

  it('that was refused pods, it is recognized as refused, and since when', () => {
    const since = '2026-11-28T10:00:00Z';
    const metadata = { name: 'w', uid: 'u', generation: 1, resourceVersion: '5' };
    const refusal = { type: 'ReplicaFailure', status: 'True', message: 'no', lastTransitionTime: since };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, status: { conditions: [refusal] } };
    const status = { observedGeneration: 1, currentNumberScheduled: 1, desiredNumberScheduled: 2 };
    const daemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, status };
    const complete = { ...daemonSet, status: { ...status, currentNumberScheduled: 2 } };
    const refused = refusedWorkloads({
      deployments: [keptApplied(deployment)],
      daemonSets: [keptApplied(complete)],
    });
    expect(refused.map(({ refusal: known }) => known)).toEqual([['u', 1, since]]);
    expect(refusedWorkloads({ daemonSets: [keptApplied(daemonSet)] })).toHaveLength(1);
  });

  it.each(['1'.repeat(21), 'x', 5, {}])('a version that is none, such as %j, is not believed', (resourceVersion) => {
    const metadata = { ...identity, resourceVersion: resourceVersion as string };
    expect(() => keptIdentity({ apiVersion: 'v1', kind: 'Node', metadata })).toThrow('is not a number');
  });
});
