import { X509Certificate } from 'node:crypto';
import type { ObjectName } from '../../../reconciler/kube/object.ts';

/** As whom a client acts: what an API server knows of an authenticated user. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

const authenticated = 'system:authenticated';

/** A user who may do everything, by any name. */
export function administrator(name: string): User {
  return { name, groups: ['system:masters', authenticated] };
}

/** The user whose token a pod with this ServiceAccount has. */
export function serviceAccountUser({ namespace, name }: ObjectName): User {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, authenticated];
  return { name: `system:serviceaccount:${namespace}:${name}`, groups };
}

/** The user whom a client certificate names: its common name, and its organizations as groups. */
export function certificateUser(pem: string): User {
  const parts = new X509Certificate(pem).subject.split('\n').map((part) => part.split('='));
  const values = (key: string) => parts.flatMap(([found, ...value]) => (found === key ? [value.join('=')] : []));
  return { name: values('CN').join(), groups: [...values('O'), authenticated] };
}
