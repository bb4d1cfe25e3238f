import { ClusterRole, ClusterRoleBinding, groupOf, Role, RoleBinding } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { defaultBindings, defaultRoles } from './default-roles.ts';
import type { Store } from './store.ts';
import type { User } from './users.ts';

/** A request for objects: what RBAC decides by. */
export interface ResourceRequest {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  /** Without one the request is for the whole cluster. */
  readonly namespace?: string | undefined;
  /** Without one the request is for all objects; a create has none. */
  readonly name?: string | undefined;
}

/** A request for another path, such as `/readyz`. */
export interface PathRequest {
  readonly verb: string;
  readonly path: string;
}

export type AuthorizedRequest = ResourceRequest | PathRequest;

/** A rule of a role. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface RoleObject extends KubeObject {
  readonly rules?: readonly PolicyRule[];
}

export interface BindingObject extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly {
    readonly apiGroup?: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  }[];
}

/** A decision, with what the API server could not evaluate. */
export interface Decision {
  readonly isAllowed: boolean;
  readonly problem?: string;
}

/** Decides by the roles and bindings of one API server what a user may do, as Kubernetes' RBAC does. */
export class Authorizer {
  readonly #store: Store;
  /** Bindings that name a user or one of its groups, until any role or binding changes. */
  readonly #granted = new Map<string, readonly Granted[]>();
  #version = -1;

  constructor(store: Store) {
    this.#store = store;
  }

  decide(user: User, request: AuthorizedRequest): Decision {
    if (user.groups.includes('system:masters')) return { isAllowed: true };
    const granted = this.#grantedTo(user);
    const applicable = granted.filter(({ namespace }) => namespace === undefined || namespace === namespaceOf(request));
    if (applicable.some(({ rules }) => rules.some((rule) => permits(rule, request)))) return { isAllowed: true };
    const problems = applicable.flatMap(({ problem }) => problem ?? []);
    return { isAllowed: false, ...(problems.length > 0 && { problem: `rbac: RBAC: ${aggregate(problems)}` }) };
  }

  #grantedTo({ name, groups }: User): readonly Granted[] {
    const version = this.#store.changesOf([ClusterRole, ClusterRoleBinding, Role, RoleBinding]);
    if (version !== this.#version) this.#granted.clear();
    this.#version = version;
    const key = JSON.stringify([name, groups]);
    const known =
      this.#granted.get(key) ?? this.#bindings.filter(isFor({ name, groups })).map((one) => this.#rules(one));
    this.#granted.set(key, known);
    return known;
  }

  get #bindings(): BindingObject[] {
    const stored = [ClusterRoleBinding, RoleBinding].flatMap((resource) => this.#store.list(resource));
    return [...defaultBindings, ...(stored as BindingObject[])];
  }

  #rules({ roleRef, metadata: { namespace } }: BindingObject): Granted {
    const resource = roleRef.kind === ClusterRole.kind ? ClusterRole : Role;
    const name = { name: roleRef.name, namespace: resource.namespaced ? namespace : undefined };
    const stored: RoleObject | undefined = this.#store.find(resource, name);
    const role = stored ?? defaultRoles.find((one) => one.kind === roleRef.kind && one.metadata.name === roleRef.name);
    if (role) return { namespace, rules: role.rules ?? [] };
    const what = `${resource.kind.toLowerCase()}.${groupOf(resource)}`;
    return { namespace, rules: [], problem: `${what} "${roleRef.name}" not found` };
  }
}

interface Granted {
  /** Only there; undefined for everywhere. */
  readonly namespace: string | undefined;
  readonly rules: readonly PolicyRule[];
  readonly problem?: string;
}

function isFor({ name, groups }: User): (binding: BindingObject) => boolean {
  return ({ subjects = [], metadata }) =>
    subjects.some((subject) => {
      if (subject.kind === 'User') return subject.name === name;
      if (subject.kind === 'Group') return groups.includes(subject.name);
      return name === `system:serviceaccount:${subject.namespace ?? metadata.namespace}:${subject.name}`;
    });
}

function namespaceOf(request: AuthorizedRequest): string | undefined {
  return 'path' in request ? undefined : request.namespace;
}

/** Whether a rule permits a request, wherever its role is bound. */
export function permits(rule: PolicyRule, request: AuthorizedRequest): boolean {
  if (!isOneOf(rule.verbs, request.verb)) return false;
  if ('path' in request) return (rule.nonResourceURLs ?? []).some((pattern) => isBelow(pattern, request.path));
  const { group, resource, subresource, name = '' } = request;
  const { apiGroups = [], resources = [], resourceNames = [] } = rule;
  return (
    isOneOf(apiGroups, group) &&
    (resources.includes(subresource ? `${resource}/${subresource}` : resource) ||
      resources.includes('*') ||
      (subresource !== undefined && resources.includes(`*/${subresource}`))) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

function isOneOf(allowed: readonly string[], value: string): boolean {
  return allowed.includes('*') || allowed.includes(value);
}

/** A pattern may end with an asterisk. */
function isBelow(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
}

function aggregate(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? distinct.join() : `[${distinct.join(', ')}]`;
}
