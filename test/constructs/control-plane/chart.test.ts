import { describe, expect, it } from 'vitest';
import { componentObjects, renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';

const kindsAndNames = (objects: readonly { kind: string; metadata: { name: string } }[]) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe('the chart of a control plane', () => {
  it('has no API server before its endpoint is known, and everything else', () => {
    const early = kindsAndNames(renderControlPlane(clusterOf(), { certificates: {}, mounts: {} }));
    const late = kindsAndNames(renderControlPlane(clusterOf(), knownFacts));
    expect(late.filter((object) => !early.includes(object))).toEqual([
      'ConfigMap c1-konnectivity',
      'Deployment c1-api-server',
      'PodDisruptionBudget c1-api-server',
    ]);
    expect(early.filter((object) => !late.includes(object))).toEqual([]);
  });

  it('is applied by component, the Service of the API server on its own', () => {
    const components = (['etcd', 'api-server', 'controller-manager', 'scheduler'] as const).flatMap((component) =>
      kindsAndNames(componentObjects(clusterOf(), knownFacts, component)),
    );
    const all = kindsAndNames(renderControlPlane(clusterOf(), knownFacts));
    expect(components.sort()).toEqual(all.filter((object) => object !== 'Service s-c1').sort());
  });

  it('belongs to its HostedControlPlane as soon as that has a uid', () => {
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

  it('has a budget for what has several pods only', () => {
    const single = clusterOf({ spec: { replicas: 1, etcd: { replicas: 1 } } });
    expect(renderControlPlane(single, knownFacts).filter(({ kind }) => kind === 'PodDisruptionBudget')).toEqual([]);
  });
});
