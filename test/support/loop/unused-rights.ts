import { providerNamespace } from '../../../constructs/cluster/provider-names.ts';
import { type AuthorizedRequest, permits, type PolicyRule, type RoleObject } from '../memory-cluster/authorizer.ts';
import { operatorGrants } from '../shipped-rights.ts';
import type { MemoryCluster } from './memory-cluster.ts';

interface Right {
  /** The verb and the resource. */
  readonly text: string;
  readonly rule: PolicyRule;
  /** Only there; undefined for everywhere. */
  readonly namespace: string | undefined;
}

/** Each verb on each resource that an installation for all namespaces grants to its operator, and that no operator has used here. */
export function unusedRights(clusters: readonly MemoryCluster[]): string[] {
  const requests = clusters.flatMap(({ used }) => used.requests);
  const granted = operatorGrants({ namespace: providerNamespace }).flatMap(({ rules, namespace }) =>
    rules.flatMap((rule) => rightsIn(rule, namespace)),
  );
  const isUsed = (right: Right) => requests.some((request) => permits(right.rule, request) && isIn(right, request));
  return [...new Set(granted.filter((right) => !isUsed(right)).map(({ text }) => text))].sort();
}

/** The role without one verb on one resource. */
export function withoutRight<T extends RoleObject>(role: T, verb: string, resource: string): T {
  const rules = (role.rules ?? []).flatMap((rule) => {
    const { resources = [], verbs } = rule;
    if (!resources.includes(resource) || !verbs.includes(verb)) return [rule];
    const others = { ...rule, resources: resources.filter((one) => one !== resource) };
    return [others, { ...rule, resources: [resource], verbs: verbs.filter((one) => one !== verb) }];
  });
  return { ...role, rules };
}

function rightsIn(rule: PolicyRule, namespace: string | undefined): Right[] {
  return (rule.resources ?? []).flatMap((resource) =>
    rule.verbs.map((verb) => ({
      text: `${verb} ${[resource, ...(rule.apiGroups ?? []).filter((group) => group !== '')].join('.')}`,
      rule: { ...rule, resources: [resource], verbs: [verb] },
      namespace,
    })),
  );
}

function isIn({ namespace }: Right, request: AuthorizedRequest): boolean {
  return namespace === undefined || ('namespace' in request && request.namespace === namespace);
}
