import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../../constructs/api/resources.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { rbacGroup } from '../../../constructs/cluster/provider-names.ts';
import type { Command, Session } from '../../../reconciler/cli/command.ts';
import { commandGrants, type Elsewhere } from '../command-rights.ts';
import type { BindingObject, RoleObject } from '../memory-cluster/authorizer.ts';
import { MemoryClient, type MemoryClientOptions } from '../memory-cluster/client.ts';
import { namespace } from '../scope.ts';
import { type TestSession, testSession } from '../test-session.ts';
import type { MemoryCluster } from './memory-cluster.ts';

export interface CommandSessionOptions extends MemoryClientOptions {
  /** By default a pause lasts no time. */
  readonly pause?: Session['pause'];
  /** Namespaces of what the command reads elsewhere. By default the same. */
  readonly elsewhere?: Elsewhere;
}

/** A session of a user who has the rights that the help of this command asks for, and no others. */
export function commandSession(
  cluster: MemoryCluster,
  command: Command,
  { pause, elsewhere, ...options }: CommandSessionOptions = {},
): TestSession {
  const user = { name: `user-of-hcp-${command.name}`, groups: ['system:authenticated'] };
  for (const [index, grant] of commandGrants(command, namespace, elsewhere).entries()) {
    const [role, binding] = grant.namespace === undefined ? [ClusterRole, ClusterRoleBinding] : [Role, RoleBinding];
    const name = `${user.name}-${index}`;
    const metadata = { name, ...definedOnly({ namespace: grant.namespace }) };
    const roleRef = { apiGroup: rbacGroup, kind: role.kind, name };
    const subjects = [{ apiGroup: rbacGroup, kind: 'User', name: user.name }];
    const { rules } = grant;
    const granted: RoleObject = { apiVersion: role.apiVersion, kind: role.kind, metadata, rules };
    const bound: BindingObject = { apiVersion: binding.apiVersion, kind: binding.kind, metadata, roleRef, subjects };
    for (const object of [granted, bound]) cluster.management.store.put(object);
  }
  const client = new MemoryClient(cluster.management, user, options);
  return testSession({ client, namespace, now: () => cluster.clock.now(), ...definedOnly({ pause }) });
}
