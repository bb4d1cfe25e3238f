import { ClusterRole, HostedControlPlane, type Resource, ResourceQuota } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { renderTenants } from '../../../constructs/provider/tenants.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { tenantOf } from '../../cluster/exposure/tenant.ts';
import { applyObjects, resourceFor } from '../../tools/testbed/apply-objects.ts';
import { onceWebhooksAnswer } from '../cluster-api-webhooks.ts';
import { until } from '../until.ts';
import { Workbench } from '../workbench.ts';

const fieldManager = 'tenant';

/** The objects of dist/tenants.yaml of these kinds. */
const shipped = (...kinds: readonly string[]): RenderedObject[] =>
  renderTenants().filter(({ kind }) => kinds.includes(kind));

/** A namespace of a tenant as dist/tenants.yaml has it: with its role, its quota and the sample policy. */
export class TenantNamespace {
  readonly bench: Workbench;
  /** A client with the rights of the tenant. */
  readonly user: KubeClient;

  private constructor(bench: Workbench, user: KubeClient) {
    this.bench = bench;
    this.user = user;
  }

  static async open(kubeconfig: string, namespace: string): Promise<TenantNamespace> {
    const bench = await Workbench.open(kubeconfig, namespace);
    const policies = shipped('ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding');
    await applyObjects(bench.client, policies);
    return new TenantNamespace(bench, await tenantOf(bench, kubeconfig));
  }

  /**
   * Limits it by the sample of a quota. The controller of quotas looks for new kinds every half a minute, and counts those that it did not
   * know for a new quota only; until then the API server refuses them.
   */
  async limit(): Promise<void> {
    const { client, namespace } = this.bench;
    for (const sample of shipped('ResourceQuota')) {
      const metadata = { ...sample.metadata, namespace };
      const isCounted = async () => {
        const { spec, status } = await client.get<QuotaObject>(ResourceQuota, metadata);
        return Object.keys(spec?.hard ?? {}).every((each) => each in (status?.used ?? {}));
      };
      const counts = async () => {
        await client.delete(ResourceQuota, metadata);
        await applyObjects(client, [{ ...sample, metadata }]);
        return until('the quota to count', isCounted, 5_000).catch(() => false as const);
      };
      await until('the controller of quotas to know all kinds', counts, 120_000);
    }
  }

  /** Creates a Cluster and its HostedControlPlane `<cluster>-cp` with the rights of the tenant. */
  async order(cluster: string, spec: object, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
    if (!(await this.bench.exists(cluster))) await this.bench.createCluster(cluster, this.user);
    await this.user.create(this.#controlPlane(cluster, spec, annotations), { fieldManager });
  }

  /** Resolves when a HostedControlPlane would be accepted. */
  async tryOut(cluster: string, spec: object): Promise<void> {
    await this.user.create(this.#controlPlane(cluster, spec, {}), { fieldManager, dryRun: true });
  }

  /** Changes a spec or metadata with the rights of the tenant. */
  async change(cluster: string, change: { readonly spec?: object; readonly metadata?: object }): Promise<void> {
    const name = { namespace: this.bench.namespace, name: `${cluster}-cp` };
    await this.user.mergePatch(HostedControlPlane, name, change, { fieldManager });
  }

  /** From now on there is no policy, as where a platform has installed none. */
  async withdrawPolicy(): Promise<void> {
    await this.#remove('ValidatingAdmissionPolicyBinding', 'ValidatingAdmissionPolicy');
  }

  /** Removes everything, without waiting for the end of the namespace. */
  async close(): Promise<void> {
    try {
      await this.user.connection.close();
      await this.#remove('ValidatingAdmissionPolicyBinding', 'ValidatingAdmissionPolicy', ClusterRole.kind);
    } finally {
      await this.bench.close();
    }
  }

  async #remove(...kinds: readonly string[]): Promise<void> {
    for (const object of shipped(...kinds)) {
      const resource: Resource = resourceFor(object);
      await onceWebhooksAnswer(() => this.bench.client.delete(resource, object.metadata));
    }
  }

  #controlPlane(cluster: string, spec: object, annotations: Readonly<Record<string, string>>): KubeObject {
    const { apiVersion, kind } = HostedControlPlane;
    const metadata = { namespace: this.bench.namespace, name: `${cluster}-cp`, annotations };
    return { apiVersion, kind, metadata, spec } as KubeObject;
  }
}

interface QuotaObject extends KubeObject {
  readonly spec?: { readonly hard?: object };
  readonly status?: { readonly used?: object };
}
