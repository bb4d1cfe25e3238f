import { describe, expect, it } from 'vitest';
import { HostedClusterNotReady } from '../../../../reconciler/hosted/not-ready.ts';
import { KubeError } from '../../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import {
  coreDNS,
  inClusterAccess,
  konnectivityAgent,
  kubeProxy,
} from '../../../../reconciler/phases/workload/add-ons.ts';
import {
  clusterInfo,
  kubeadmConfig,
  kubeletConfig,
} from '../../../../reconciler/phases/workload/join-configuration.ts';
import { workloadRBAC } from '../../../../reconciler/phases/workload/rbac.ts';
import type { HostedClient } from '../../../../reconciler/scope.ts';
import { MemoryWorld } from '../../../support/memory-world.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { scopeOf } from '../../../support/scope.ts';

const parts = { workloadRBAC, clusterInfo, kubeadmConfig, kubeletConfig };
const addOns = { kubeProxy, coreDNS, konnectivityAgent, inClusterAccess };
const every = Object.entries({ ...parts, ...addOns });

const fails = (error: Error) => async () => {
  throw error;
};
const scopeWith = (hosted: Partial<HostedClient>, nodes: number | undefined = 3, spec: object = {}) =>
  scopeOf(new MemoryWorld(), { hosted: { nodes: () => nodes, ...hosted }, facts: { ...knownFacts, nodes }, spec });

describe.each(every)('%s', (_, phase) => {
  it('is asked again later when the API server cannot do it yet', async () => {
    const notReady = new HostedClusterNotReady('the API server does not answer: refused', 2000, undefined);
    expect(await phase.run(scopeWith({ apply: fails(notReady) }))).toMatchObject({
      reason: 'WaitingForAPIServer',
      message: 'the API server does not answer: refused',
      afterMs: 2000,
    });
  });

  it('throws when the hosted cluster refuses: that is never a matter of waiting', async () => {
    const forbidden = new KubeError('apply x: forbidden', { code: 403, reason: 'Forbidden' });
    await expect(phase.run(scopeWith({ apply: fails(forbidden) }))).rejects.toBe(forbidden);
  });
});

it('grants rights before it watches, and tells how many nodes there are', async () => {
  const calls: string[] = [];
  const outcome = await workloadRBAC.run(
    scopeWith({
      apply: async <T extends KubeObject>(objects: readonly object[]) => {
        calls.push(`apply ${objects.length > 0}`);
        return [] as T[];
      },
      watch: () => void calls.push('watch'),
    }),
  );
  expect(calls).toEqual(['apply true', 'watch']);
  expect(outcome).toMatchObject({ kind: 'done', facts: { nodes: 3 } });
});
