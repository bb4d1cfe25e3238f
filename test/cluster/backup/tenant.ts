import { ClusterRole, RoleBinding } from '../../../constructs/api/resources.ts';
import { renderTenants } from '../../../constructs/provider/tenants.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { CommandError } from '../../tools/testbed/run.ts';
import { instanceFrom, type Instance } from '../../tools/testbed/instance.ts';
import { kubectl } from '../../tools/testbed/kubectl.ts';

const fieldManager = 'platform';
const bindingName = 'tenant';
const rbac = { apiGroup: 'rbac.authorization.k8s.io' } as const;

interface Place {
  readonly client: KubeClient;
  readonly instance: Instance;
  readonly namespace: string;
  /** Name of the ClusterRole. */
  readonly role: string;
}

/** A user with the rights that a platform gives to tenants in one namespace, and with no others. */
export class Tenant {
  readonly #place: Place;
  readonly #name = 'mallory';

  private constructor(place: Place) {
    this.#place = place;
  }

  static async in(client: KubeClient, testbed: string, namespace: string): Promise<Tenant> {
    const role = renderTenants().find(({ kind }) => kind === ClusterRole.kind);
    if (!role) throw new Error('dist/tenants.yaml has no ClusterRole');
    const instance = instanceFrom(process.env, testbed);
    const tenant = new Tenant({ client, instance, namespace, role: role.metadata.name });
    await client.apply(role, { fieldManager, force: true });
    const binding = {
      apiVersion: RoleBinding.apiVersion,
      kind: RoleBinding.kind,
      metadata: { namespace, name: bindingName },
      roleRef: { ...rbac, kind: ClusterRole.kind, name: role.metadata.name },
      subjects: [{ ...rbac, kind: 'User', name: tenant.#name }],
    };
    await client.apply(binding, { fieldManager, force: true });
    return tenant;
  }

  /** What kubectl prints for the tenant, or what the API server says instead. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const { instance, namespace } = this.#place;
    const as = ['--as', this.#name, '--namespace', namespace];
    return kubectl(instance, [...as, ...args]).catch((error: unknown) => {
      if (error instanceof CommandError) return error.stderr;
      throw error;
    });
  }

  /** Takes its rights away: a namespace may be lent to others. */
  async remove(): Promise<void> {
    const { client, namespace, role } = this.#place;
    await client.delete(RoleBinding, { namespace, name: bindingName });
    await client.delete(ClusterRole, { name: role });
  }

  /** Changes the spec of a HostedControlPlane, as its owner may. */
  change(name: string, spec: object): Promise<string> {
    return this.kubectl('patch', 'hostedcontrolplane', name, '--type=merge', `--patch=${JSON.stringify({ spec })}`);
  }
}
