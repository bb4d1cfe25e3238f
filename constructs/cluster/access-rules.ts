import { groupOf, type Resource } from '../api/resources.ts';

const verbOrder = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'approve',
  'sign',
  'impersonate',
] as const;
export type Verb = (typeof verbOrder)[number];

/** One permission and its purpose. */
export interface Access {
  readonly resource: Resource;
  readonly subresource?: string;
  /** Only objects of these names. Server-side apply is authorized by name too, also when it creates. @default all */
  readonly names?: readonly string[];
  readonly verbs: readonly Verb[];
  readonly why: string;
}

/** One rule of a Role or ClusterRole. */
export interface Rule {
  readonly apiGroups: string[];
  readonly resources: string[];
  readonly resourceNames?: string[];
  readonly verbs: Verb[];
}

/**
 * The smallest list of rules that grants exactly these permissions: resources of one group with the same names and
 * verbs share a rule.
 */
export function rulesOf(access: readonly Access[]): Rule[] {
  const rights = new Map<string, { readonly rule: Rule; readonly verbs: Set<Verb> }>();
  for (const { resource, subresource, names, verbs } of access) {
    const apiGroup = groupOf(resource);
    const name = subresource ? `${resource.plural}/${subresource}` : resource.plural;
    const resourceNames = names && [...new Set(names)].sort();
    const key = [apiGroup, name, ...(resourceNames ?? [])].join(' ');
    const rule = { apiGroups: [apiGroup], resources: [name], ...(resourceNames && { resourceNames }), verbs: [] };
    const known = rights.get(key) ?? { rule, verbs: new Set<Verb>() };
    rights.set(key, { rule, verbs: new Set([...known.verbs, ...verbs]) });
  }
  const rules = new Map<string, Rule>();
  for (const [, { rule, verbs: granted }] of [...rights].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const verbs = verbOrder.filter((verb) => granted.has(verb));
    const signature = JSON.stringify([rule.apiGroups, rule.resourceNames, verbs]);
    const resources = [...(rules.get(signature)?.resources ?? []), ...rule.resources];
    rules.set(signature, { ...rule, resources, verbs });
  }
  return [...rules.values()];
}
