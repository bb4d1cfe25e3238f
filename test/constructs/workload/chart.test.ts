import { describe, expect, it } from 'vitest';
import { fieldManager } from '../../../constructs/api/group.ts';
import { managedByLabel } from '../../../constructs/cluster/labels.ts';
import { renderWorkload, type WorkloadPart } from '../../../constructs/workload/chart.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';
import { identityOf, workloadsOf } from '../../support/rendered-objects.ts';

const parts = [
  'rbac',
  'cluster-info',
  'kubeadm-config',
  'kubelet-config',
  'kube-proxy',
  'coredns',
  'konnectivity-agent',
  'in-cluster-access',
  'service-access',
] as const satisfies readonly WorkloadPart[];
const cluster = clusterOf();

describe('the chart of the hosted cluster', () => {
  it('is the sum of its parts', () => {
    const all = renderWorkload(cluster, knownFacts).map(identityOf);
    const summed = parts.flatMap((part) => renderWorkload(cluster, knownFacts, part)).map(identityOf);
    expect(summed.sort()).toEqual(all.sort());
  });

  it('labels every object, because watches select by label', () => {
    const labels = renderWorkload(cluster, knownFacts).map(({ metadata }) => metadata.labels?.[managedByLabel]);
    expect(new Set(labels)).toEqual(new Set([fieldManager]));
  });

  it('grants rights in one part only, because another identity applies that one', () => {
    const granting = parts.filter((part) =>
      renderWorkload(cluster, knownFacts, part).some(({ apiVersion }) => apiVersion.startsWith('rbac.')),
    );
    expect(granting).toEqual(['rbac']);
  });

  it('has every ConfigMap and service account that its pods use, apart from the one of Kubernetes itself', () => {
    const objects = renderWorkload(clusterOf({ spec: { inClusterAccess: 'Proxy' } }), knownFacts);
    const named = workloadsOf(objects).flatMap(({ pod }) => [
      ...(pod.volumes ?? []).flatMap(({ configMap }) => (configMap ? [`ConfigMap ${configMap.name}`] : [])),
      ...(pod.serviceAccountName ? [`ServiceAccount ${pod.serviceAccountName}`] : []),
    ]);
    const rendered = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const references = named.filter((reference) => !reference.endsWith(' kube-root-ca.crt'));
    expect(references.length).toBeGreaterThan(4);
    expect(references.filter((reference) => !rendered.includes(reference))).toEqual([]);
  });

  it('omits objects that name the endpoint until there is one', () => {
    const objects = renderWorkload(cluster, { certificates: {}, mounts: {} });
    expect(new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`))).not.toContain(
      'ConfigMap cluster-info',
    );
    expect(JSON.stringify(objects)).not.toContain('undefined');
  });
});
