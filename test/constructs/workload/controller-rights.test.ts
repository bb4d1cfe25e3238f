import { describe, expect, it } from 'vitest';
import type { Rule } from '../../../constructs/cluster/access-rules.ts';
import { groupOf, Secret } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { type AppliedKind, appliedKinds } from '../../../constructs/workload/applied-kinds.ts';
import { appliedKindsOf, renderWorkload } from '../../../constructs/workload/chart.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';
import { renderSamples } from '../../support/rendered-objects.ts';

const samples = await renderSamples();
const versions = ['v1.33.1', 'v1.34.1', 'v1.35.1', 'v1.36.3'];
const name = 'hosted-control-plane:controller';

/** One right as text: `apply default/Service kubernetes`. */
const described = (kinds: readonly AppliedKind[]) =>
  kinds.flatMap(({ resource, namespace, names }) =>
    names.map((object) => `${resource.apiVersion} ${resource.kind} ${namespace ?? ''}/${object}`),
  );

describe('the objects applied in a hosted cluster', () => {
  it.each(samples)('include everything that sample $name renders there, except RBAC', ({ cluster, facts }) => {
    const rendered = described(appliedKinds(renderWorkload(cluster, facts)));
    expect(described(appliedKindsOf(cluster.spec.version))).toEqual(expect.arrayContaining(rendered));
  });

  it('are the same whatever is disabled, because existing objects must be watched too', () => {
    const disabled = { coredns: { disabled: true }, kubeProxy: { disabled: true } };
    const rights = (spec: object) => controllerRules(renderWorkload(clusterOf({ spec }), knownFacts, 'rbac'));
    expect(rights(disabled)).toEqual(rights({}));
  });
});

interface Granting extends RenderedObject {
  readonly rules: readonly Rule[];
}

/** Rules of the operator's own client by namespace; cluster-wide ones have none. */
function controllerRules(objects: readonly RenderedObject[]): { readonly namespace: string | undefined; rule: Rule }[] {
  return objects
    .filter((object): object is Granting => /^(Cluster)?Role$/.test(object.kind) && object.metadata.name === name)
    .flatMap(({ metadata, rules }) => rules.map((rule) => ({ namespace: metadata.namespace, rule })));
}

describe.each(versions)("the operator's own client of Kubernetes %s", (version) => {
  const rules = controllerRules(renderWorkload(clusterOf({ spec: { version } }), knownFacts, 'rbac'));
  const isAllowed = (verb: Rule['verbs'][number], { resource, namespace }: AppliedKind, object?: string) =>
    rules.some(
      ({ namespace: granted, rule }) =>
        granted === namespace &&
        rule.apiGroups.includes(groupOf(resource)) &&
        rule.resources.includes(resource.plural) &&
        rule.verbs.includes(verb) &&
        (rule.resourceNames === undefined || (object !== undefined && rule.resourceNames.includes(object))),
    );

  it('may watch and write what it applies, by name', () => {
    for (const kind of appliedKindsOf(version)) {
      expect([kind.resource.plural, isAllowed('list', kind), isAllowed('watch', kind)]).toEqual([
        kind.resource.plural,
        true,
        true,
      ]);
      for (const object of kind.names) {
        expect([object, isAllowed('create', kind, object), isAllowed('patch', kind, object)]).toEqual([
          object,
          true,
          true,
        ]);
      }
    }
  });

  it('may write nothing else except approvals, delete nothing, and read no Secret', () => {
    const writing = rules.filter(({ rule }) => rule.verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)));
    expect(writing.filter(({ rule }) => rule.resourceNames === undefined)).toMatchObject([
      { rule: { resources: ['certificatesigningrequests/approval'], verbs: ['patch'] } },
    ]);
    const all = rules.map(({ rule }) => rule);
    expect(all.filter(({ verbs }) => verbs.includes('delete'))).toEqual([]);
    expect(all.filter(({ resources }) => resources.includes(Secret.plural))).toEqual([]);
    expect(all.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs])).not.toContain('*');
  });

  it('may approve serving certificates of kubelets, and no others', () => {
    const signers = rules.filter(({ rule }) => rule.verbs.includes('approve'));
    expect(signers).toEqual([
      {
        namespace: undefined,
        rule: {
          apiGroups: ['certificates.k8s.io'],
          resources: ['signers'],
          resourceNames: ['kubernetes.io/kubelet-serving'],
          verbs: ['approve'],
        },
      },
    ]);
  });

  it('may not write RBAC', () => {
    const granting = rules.filter(({ rule }) => rule.apiGroups.includes('rbac.authorization.k8s.io'));
    expect(granting.flatMap(({ rule }) => rule.verbs)).toEqual(['list', 'watch']);
  });
});
