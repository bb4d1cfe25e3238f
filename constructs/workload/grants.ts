import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { groupOf, Role } from '../api/resources.ts';

const apiGroup = groupOf(Role);

/** A user that a certificate names. */
export function user(name: string): k8s.Subject {
  return { apiGroup, kind: 'User', name };
}

/** All users whose certificate or token names this group. */
export function group(name: string): k8s.Subject {
  return { apiGroup, kind: 'Group', name };
}

/** Pods of kube-system that run as this service account. */
export function serviceAccount(name: string): k8s.Subject {
  return { kind: 'ServiceAccount', name, namespace: 'kube-system' };
}

export interface BindingProps {
  readonly name: string;
  /** A ClusterRole that Kubernetes itself or a chart creates. */
  readonly clusterRole: string;
  readonly subjects: k8s.Subject[];
}

/** Grants a ClusterRole to subjects in all namespaces. */
export class Binding extends Construct {
  constructor(scope: Construct, id: string, { name, clusterRole, subjects }: BindingProps) {
    super(scope, id);
    new k8s.KubeClusterRoleBinding(this, 'binding', {
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name: clusterRole },
      subjects,
    });
  }
}

export interface GrantProps {
  /** Name of the role and of its binding. */
  readonly name: string;
  /** @default all namespaces */
  readonly namespace?: string;
  readonly rules: k8s.PolicyRule[];
  readonly subjects: k8s.Subject[];
}

/** A role for these subjects only, and its binding. */
export class Grant extends Construct {
  constructor(scope: Construct, id: string, { name, namespace, rules, subjects }: GrantProps) {
    super(scope, id);
    if (namespace === undefined) {
      new k8s.KubeClusterRole(this, 'role', { metadata: { name }, rules });
      new Binding(this, 'binding', { name, clusterRole: name, subjects });
      return;
    }
    new k8s.KubeRole(this, 'role', { metadata: { name, namespace }, rules });
    new k8s.KubeRoleBinding(this, 'binding', {
      metadata: { name, namespace },
      roleRef: { apiGroup, kind: 'Role', name },
      subjects,
    });
  }
}
