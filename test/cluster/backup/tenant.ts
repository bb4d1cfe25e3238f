import { Namespace } from '../../../constructs/api/resources.ts';
import { renderTenants } from '../../../constructs/provider/tenants.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { CommandError } from '../../testbed/run.ts';
import { instanceFrom, type Instance } from '../../testbed/instance.ts';
import { kubectl } from '../../testbed/kubectl.ts';

const fieldManager = 'platform';
const rbac = { apiGroup: 'rbac.authorization.k8s.io' } as const;

/** A user with the rights that a platform gives to tenants in one namespace, and with no others. */
export class Tenant {
  readonly #instance: Instance;
  readonly #namespace: string;
  readonly #name = 'mallory';

  private constructor(instance: Instance, namespace: string) {
    this.#instance = instance;
    this.#namespace = namespace;
  }

  static async in(client: KubeClient, testbed: string, namespace: string): Promise<Tenant> {
    const tenant = new Tenant(instanceFrom(process.env, testbed), namespace);
    const role = renderTenants().find(({ kind }) => kind === 'ClusterRole');
    if (!role) throw new Error('dist/tenants.yaml has no ClusterRole');
    await client.apply(role, { fieldManager, force: true });
    const binding = {
      apiVersion: `${rbac.apiGroup}/v1`,
      kind: 'RoleBinding',
      metadata: { namespace, name: 'tenant' },
      roleRef: { ...rbac, kind: 'ClusterRole', name: role.metadata.name },
      subjects: [{ ...rbac, kind: 'User', name: tenant.#name }],
    };
    await client.apply(binding, { fieldManager, force: true });
    return tenant;
  }

  /** What kubectl prints for the tenant, or what the API server says instead. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const as = ['--as', this.#name, '--namespace', this.#namespace];
    return kubectl(this.#instance, [...as, ...args]).catch((error: unknown) => {
      if (error instanceof CommandError) return error.stderr;
      throw error;
    });
  }

  /** Changes the spec of a HostedControlPlane, as its owner may. */
  change(name: string, spec: object): Promise<string> {
    return this.kubectl('patch', 'hostedcontrolplane', name, '--type=merge', `--patch=${JSON.stringify({ spec })}`);
  }
}

/** A namespace of the platform, in which the tenant has no rights. */
export async function createPlatformNamespace(client: KubeClient, name: string): Promise<void> {
  const { apiVersion, kind } = Namespace;
  await client.apply({ apiVersion, kind, metadata: { name } }, { fieldManager, force: true });
}
