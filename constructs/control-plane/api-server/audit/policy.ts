import { Yaml } from 'cdk8s';
import type { AuditPolicy } from '../../../api/audit-spec.ts';

/**
 * The policy file. Policies that mean the same give the same bytes, so that an equal policy restarts no API server: the
 * order of rules has a meaning and stays, every other list is a set, and an empty list is the same as none.
 */
export function policyFile({ omitStages, omitManagedFields, rules }: AuditPolicy): string {
  return Yaml.stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    ...set({ omitStages }),
    ...(omitManagedFields ? { omitManagedFields } : {}),
    rules: rules.map(canonicalRule),
  });
}

function canonicalRule({ level, resources = [], omitManagedFields, ...sets }: AuditPolicy['rules'][number]) {
  const { users, userGroups, verbs, namespaces, nonResourceURLs, omitStages } = sets;
  const groups = resources
    .map(({ group, resources: names, resourceNames }) => ({
      ...(group ? { group } : {}),
      ...set({ resources: names, resourceNames }),
    }))
    .sort(byText);
  return {
    level,
    ...set({ users, userGroups, verbs }),
    ...(groups.length > 0 ? { resources: groups } : {}),
    ...set({ namespaces, nonResourceURLs, omitStages }),
    // False differs from unset: it takes precedence over the policy.
    ...(omitManagedFields === undefined ? {} : { omitManagedFields }),
  };
}

/** Each list sorted and without repetitions; empty ones are left out. */
function set(lists: Readonly<Record<string, readonly string[] | undefined>>): Record<string, string[]> {
  const entries = Object.entries(lists).map(([name, values = []]) => [name, [...new Set(values)].sort()] as const);
  return Object.fromEntries(entries.filter(([, values]) => values.length > 0));
}

function byText(a: object, b: object): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
