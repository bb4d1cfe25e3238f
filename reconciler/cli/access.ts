import { HostedControlPlane, Pod, Secret } from '../../constructs/api/resources.ts';
import type { Access } from '../../constructs/cluster/access-rules.ts';
import { backupIdentityAccess } from '../../constructs/provider/granted-access.ts';

/** Where a command needs a right, in the words of its help. */
export const places = {
  namespace: 'in the namespace of the control plane',
  cluster: 'in the whole management cluster',
  gateway: 'in the namespace of its Gateway',
  operator: 'in the namespace of the operator',
  store: 'in the namespace of the Secret of its bucket',
} as const;
export type Place = keyof typeof places;

/** A right that a command needs in the management cluster. */
export interface CommandAccess extends Access {
  /** @default namespace */
  readonly where?: Place;
}

export const findingControlPlane: CommandAccess = {
  resource: HostedControlPlane,
  verbs: ['list'],
  why: 'finding the control plane of a Cluster',
};

/** @param option with which the command follows what it has requested */
export function followingControlPlane(option: string): CommandAccess {
  return { resource: HostedControlPlane, verbs: ['watch'], why: `following it, with ${option}` };
}

/** @param why what the command writes */
export function changingControlPlane(why: string): CommandAccess {
  return { resource: HostedControlPlane, verbs: ['patch'], why };
}

/** What a command needs that reads a bucket. */
export const readingStore: readonly CommandAccess[] = [
  { resource: Secret, verbs: ['get'], why: 'the address and the keys of the bucket', where: 'store' },
  ...backupIdentityAccess.map((access) => ({
    ...access,
    why: 'signing in to the store, with etcd.backup.webIdentity',
  })),
];

/** What a command needs that connects to a pod, as kubectl port-forward does. @param what it connects to */
export function forwardingPort(what: string): CommandAccess {
  return { resource: Pod, subresource: 'portforward', verbs: ['get', 'create'], why: `connecting to ${what}` };
}
