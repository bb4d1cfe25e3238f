import { describe, expect, it } from 'vitest';
import { notCountedForReady } from '../../../../constructs/api/conditions.ts';
import { HostedClusterNotReady } from '../../../../reconciler/clusters/hosted/outage.ts';
import { KubeError } from '../../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { objectsOf, type Rendered } from '../../../../reconciler/kube/rendering.ts';
import {
  coreDNS,
  inClusterAccess,
  konnectivityAgent,
  kubeProxy,
  serviceAccess,
} from '../../../../reconciler/phases/workload/add-ons.ts';
import {
  clusterInfo,
  kubeadmConfig,
  kubeletConfig,
} from '../../../../reconciler/phases/workload/join-configuration.ts';
import { workloadRBAC } from '../../../../reconciler/phases/workload/rbac.ts';
import type { HostedClient } from '../../../../reconciler/clusters/hosted/hosted-client.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { scopeOf, withServer } from '../../../support/scope.ts';

const parts = { workloadRBAC, clusterInfo, kubeadmConfig, kubeletConfig };
const addOns = { kubeProxy, coreDNS, konnectivityAgent, inClusterAccess, serviceAccess };
const every = Object.entries({ ...parts, ...addOns });

const fails = (error: Error) => async () => {
  throw error;
};
const scopeWith = (hosted: Partial<HostedClient>, nodes: number | 'unknown' = 3, spec: object = {}) =>
  scopeOf(withServer(new MemoryObjects()), {
    hosted: { nodes: () => (nodes === 'unknown' ? undefined : nodes), ...hosted },
    facts: { ...knownFacts, nodes: nodes === 'unknown' ? undefined : nodes },
    spec,
  });
/** Three nodes, and this many available pods of each workload. */
const withPods = (available: number) =>
  scopeWith({
    apply: async <T extends KubeObject>(rendered: Rendered) =>
      objectsOf(rendered).map((object) => ({
        ...object,
        status: { availableReplicas: available, numberAvailable: available, desiredNumberScheduled: 3 },
      })) as unknown as T[],
  });

describe.each(every)('%s', (_, phase) => {
  it('is requeued while the API server is not ready', async () => {
    const notReady = new HostedClusterNotReady('the API server does not answer: refused', 2000, undefined);
    expect(await phase.run(scopeWith({ apply: fails(notReady) }))).toMatchObject({
      reason: 'WaitingForAPIServer',
      message: 'the API server does not answer: refused',
      afterMs: 2000,
    });
  });

  it('names the arguments that may have turned an API off when the API server does not serve it', async () => {
    const message = 'apply DaemonSet kube-system/x: the server could not find the requested resource';
    const missing = new KubeError(message, { code: 404, reason: 'NotFound' });
    await expect(phase.run(scopeWith({ apply: fails(missing) }))).rejects.toMatchObject({
      name: 'InvalidConfiguration',
      message: expect.stringMatching(/DaemonSet kube-system\/x.*remove the argument .* emulated-version/) as string,
    });
  });

  it('throws when the hosted cluster rejects a request, because waiting does not help', async () => {
    const forbidden = new KubeError('apply x: forbidden', { code: 403, reason: 'Forbidden' });
    await expect(phase.run(scopeWith({ apply: fails(forbidden) }))).rejects.toBe(forbidden);
  });
});

it('applies RBAC before it watches, and returns the number of nodes', async () => {
  const calls: string[] = [];
  const outcome = await workloadRBAC.run(
    scopeWith({
      apply: async <T extends KubeObject>(rendered: Rendered) => {
        calls.push(`apply ${objectsOf(rendered).length > 0}`);
        return [] as T[];
      },
      watch: () => void calls.push('watch'),
    }),
  );
  expect(calls).toEqual(['apply true', 'watch']);
  expect(outcome).toMatchObject({ kind: 'done', facts: { nodes: 3 } });
});

describe.each(Object.entries(addOns))('add-on %s', (_, phase) => {
  it('waits for the number of nodes before it applies anything, because a guess would scale pods up and down', async () => {
    const never = fails(new Error('applied'));
    expect(await phase.run(scopeWith({ apply: never }, 'unknown'))).toMatchObject({ reason: 'NotObserved' });
  });

  it('is done without nodes', async () => {
    expect(await phase.run(scopeWith({}, 0))).toMatchObject({ kind: 'done' });
  });

  it('is done when a pod is available', async () => {
    expect(await phase.run(withPods(1))).toMatchObject({ kind: 'done' });
  });
});

it.each([
  ['kube-proxy', kubeProxy],
  ['CoreDNS', coreDNS],
  ['the konnectivity agent', konnectivityAgent],
] as const)('waits for a pod of %s if there are nodes', async (_, phase) => {
  expect(await phase.run(withPods(0))).toMatchObject({
    reason: 'WaitingForPods',
    message: expect.stringMatching(/0 of \d pods? available/) as string,
  });
});

it.each<[string, object]>([
  ['kubeProxy', kubeProxy],
  ['coredns', coreDNS],
  ['konnectivityClient', konnectivityAgent],
])('is done with %s if that is disabled', async (field, phase) => {
  const applied: unknown[] = [];
  const apply = async <T extends KubeObject>(rendered: Rendered) => {
    applied.push(...objectsOf(rendered));
    return [] as T[];
  };
  const outcome = await (phase as typeof kubeProxy).run(scopeWith({ apply }, 3, { [field]: { disabled: true } }));
  expect(outcome).toMatchObject({ kind: 'done' });
  expect(applied).toEqual([]);
});

it('reports a remedy when the in-cluster access is not supported, and changes nothing', async () => {
  const spec = { version: 'v1.33.1', inClusterAccess: 'Policy' };
  const scope = scopeWith({ apply: fails(new Error('applied')) }, 3, spec);
  await expect(inClusterAccess.run(scope)).rejects.toMatchObject({
    name: 'InvalidConfiguration',
    reason: 'InClusterAccessNotSupported',
  });
});

describe('the kubernetes Service beside the environment of pods', () => {
  const spec = { inClusterAccess: 'Policy' };

  it.each([
    'pods "proxy-x" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0',
    'pods "proxy-x" is forbidden: violates PodSecurity "restricted:latest"',
  ])('reports that its pods are refused: %s', async (message) => {
    const conditions = [{ type: 'ReplicaFailure', status: 'True', message }];
    const apply = async <T extends KubeObject>(rendered: Rendered) =>
      objectsOf(rendered).map((object) => ({ ...object, status: { conditions } })) as unknown as T[];
    const outcome = await serviceAccess.run(scopeWith({ apply }, 3, spec));
    expect(outcome).toMatchObject({
      reason: 'PodsFailing',
      message: `Deployment hosted-control-plane-service-proxy: ${message}: admit these pods in namespace default of the hosted cluster; until then pods reach the API server by their environment only`,
    });
  });

  it('waits for a pod if there are nodes', async () => {
    const apply = async <T extends KubeObject>(rendered: Rendered) => [...objectsOf(rendered)] as unknown as T[];
    expect(await serviceAccess.run(scopeWith({ apply }, 3, spec))).toMatchObject({
      reason: 'WaitingForPods',
      message: 'Deployment default/hosted-control-plane-service-proxy: 0 of 2 pods available',
    });
  });

  it('holds nothing up', () => {
    expect(notCountedForReady).toContain(serviceAccess.condition);
  });
});
