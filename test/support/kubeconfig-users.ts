import { ClusterRole, ClusterRoleBinding, RoleBinding } from '../../constructs/api/resources.ts';
import { providerNames, rbacGroup } from '../../constructs/cluster/provider-names.ts';
import { renderProvider } from '../../constructs/provider/chart.ts';
import { renderTenants } from '../../constructs/provider/tenants.ts';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { connectionFor } from '../../reconciler/kube/config.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { issueCertificate, validFor } from '../../reconciler/pki/issue.ts';
import { applyObjects } from '../tools/testbed/apply-objects.ts';
import type { AdministratorTarget } from './api-server.ts';

const { kubeconfigRole, kubeconfigRequestRole, tenantRole } = providerNames;

/**
 * Binds the roles of the installation to groups, as an administrator does: `developers` and `tenants` may request kubeconfigs, of their
 * own name or of any; `requesters` may create requests and `readers` may read control planes, and neither may have a kubeconfig.
 */
export async function grantKubeconfigs(client: KubeClient, namespace: string): Promise<void> {
  const roles = [...renderProvider(), ...renderTenants()].filter(
    ({ kind, metadata: { name } }) =>
      kind === ClusterRole.kind && [kubeconfigRole, kubeconfigRequestRole, tenantRole].includes(name),
  );
  const reader = {
    apiVersion: ClusterRole.apiVersion,
    kind: ClusterRole.kind,
    metadata: { name: 'reader' },
    rules: [
      { apiGroups: ['controlplane.cluster.x-k8s.io'], resources: ['hostedcontrolplanes'], verbs: ['get', 'list'] },
    ],
  };
  await applyObjects(client, [
    ...roles,
    reader,
    bound(kubeconfigRequestRole, undefined, 'developers', 'tenants', 'requesters'),
    bound(kubeconfigRole, namespace, 'developers'),
    bound(tenantRole, namespace, 'tenants'),
    bound('reader', namespace, 'readers'),
  ]);
}

/** Binds a ClusterRole to groups, in one namespace or in the whole cluster. */
function bound(name: string, namespace: string | undefined, ...groups: string[]): KubeObject {
  const { apiVersion, kind } = namespace === undefined ? ClusterRoleBinding : RoleBinding;
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: rbacGroup, kind: ClusterRole.kind, name },
    subjects: groups.map((group) => ({ apiGroup: rbacGroup, kind: 'Group', name: group })),
  } as KubeObject;
}

/** A client of a user in these groups. */
export async function userClient(
  { certificateAuthority, ...target }: AdministratorTarget,
  name: string,
  groups: readonly string[],
): Promise<KubeClient> {
  const plan = { commonName: name, organizations: groups, usages: ['client'], hosts: [] } as const;
  const { certificate, key } = await issueCertificate(plan, certificateAuthority, validFor(3_600_000, new Date()));
  return new KubeClient(connectionFor({ ...target, cert: certificate, key }));
}
