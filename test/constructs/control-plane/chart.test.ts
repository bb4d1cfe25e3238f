import { describe, expect, it } from 'vitest';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';

const kindsAndNames = (objects: readonly { kind: string; metadata: { name: string } }[]) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

const policyOf = (spec: unknown) => (spec as { unhealthyPodEvictionPolicy?: string }).unhealthyPodEvictionPolicy;

describe('the chart of a control plane', () => {
  it('has everything but the API server before its endpoint is known', () => {
    const early = kindsAndNames(renderControlPlane(clusterOf(), { certificates: {}, mounts: {} }));
    const late = kindsAndNames(renderControlPlane(clusterOf(), knownFacts));
    expect(late.filter((object) => !early.includes(object))).toEqual([
      'ConfigMap c1-konnectivity',
      'Deployment c1-api-server',
      'PodDisruptionBudget c1-api-server',
    ]);
    expect(early.filter((object) => !late.includes(object))).toEqual([]);
  });

  it('is the sum of its parts', () => {
    const parts = [
      'api-server-service',
      'routes',
      'network-policies',
      'etcd',
      'api-server',
      'controller-manager',
      'scheduler',
    ] as const;
    const rendered = parts.flatMap((part) => renderControlPlane(clusterOf(), knownFacts, part));
    const byName = (objects: typeof rendered) => new Map(objects.map((o) => [`${o.kind} ${o.metadata.name}`, o]));
    expect(byName(rendered)).toEqual(byName(renderControlPlane(clusterOf(), knownFacts)));
    expect(rendered).toHaveLength(byName(rendered).size);
  });

  it('is owned by its HostedControlPlane as soon as that has a uid', () => {
    const owner = { name: 'c1-x7k2p', uid: 'a-uid' };
    for (const { metadata } of renderControlPlane(clusterOf(), { ...knownFacts, owner })) {
      expect(metadata.ownerReferences).toEqual([
        {
          apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
          kind: 'HostedControlPlane',
          ...owner,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    }
    const offline = renderControlPlane(clusterOf(), knownFacts);
    expect(offline.filter(({ metadata }) => metadata.ownerReferences)).toEqual([]);
  });

  it('lets drains evict pods that do not work, and members of etcd as long as it has a quorum', () => {
    const deployment = { controllerManager: { replicas: 2 }, scheduler: { replicas: 2 } };
    const budgets = renderControlPlane(clusterOf({ spec: { deployment } }), knownFacts).filter(
      ({ kind }) => kind === 'PodDisruptionBudget',
    );
    const policies = budgets.map(({ metadata, ...object }) => [metadata.name, policyOf(object['spec'])]);
    expect(Object.fromEntries(policies)).toEqual({
      'c1-api-server': 'AlwaysAllow',
      'c1-controller-manager': 'AlwaysAllow',
      'c1-scheduler': 'AlwaysAllow',
      'c1-etcd': 'IfHealthyBudget',
    });
  });

  it('has a disruption budget only for components with several pods', () => {
    const single = clusterOf({ spec: { replicas: 1, etcd: { replicas: 1 } } });
    expect(renderControlPlane(single, knownFacts).filter(({ kind }) => kind === 'PodDisruptionBudget')).toEqual([]);
  });
});
