import type { StructuralSchema } from '../../constructs/api/structural.ts';
import type { CapoVersion } from '../../constructs/stacks/openstack/class-patch.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { foreignSpec, innerSpec } from '../support/stacks/foreign-spec.ts';
import { applyObjects } from '../tools/testbed/apply-objects.ts';

const group = 'infrastructure.cluster.x-k8s.io';
const anything: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/**
 * Installs the kinds of CAPO in one version, and lets Cluster API read and write them. Without CAPO's webhooks nothing
 * converts between versions.
 */
export async function installOpenStackKinds(client: KubeClient, version: CapoVersion): Promise<void> {
  const definitions = await Promise.all(
    ['OpenStackCluster', 'OpenStackMachine'].flatMap((kind) => [
      foreignSpec(`${kind}Template`, version).then((spec) => definition(`${kind}Template`, version, spec)),
      // The spec of an object is that in its template.
      foreignSpec(`${kind}Template`, version).then((spec) => definition(kind, version, innerSpec(spec))),
    ]),
  );
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'openstack-infrastructure', labels: { 'cluster.x-k8s.io/aggregate-to-manager': 'true' } },
    rules: [{ apiGroups: [group], resources: ['*'], verbs: ['*'] }],
  };
  await applyObjects(client, [...definitions, role]);
}

function definition(kind: string, version: CapoVersion, spec: StructuralSchema): KubeObject & { spec: object } {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { [`cluster.x-k8s.io/${version}`]: version } },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: anything } } },
        },
      ],
    },
  };
}
