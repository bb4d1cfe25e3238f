import { ClusterRole, ClusterRoleBinding, ServiceAccount } from '../../constructs/api/resources.ts';
import { providerNames, rbacGroup } from '../../constructs/cluster/provider-names.ts';
import { renderProvider } from '../../constructs/provider/chart.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { applyObjects } from '../testbed/apply-objects.ts';

/** Creates a ServiceAccount that may read metrics by the role of the installation. Returns a token of it. */
export async function metricsReader(
  client: KubeClient,
  account: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const { kind, apiVersion } = ServiceAccount;
  const isRole = ({ kind: of, metadata }: { kind: string; metadata: { name: string } }) =>
    of === ClusterRole.kind && metadata.name === providerNames.metricsReaderRole;
  await applyObjects(client, [
    { apiVersion, kind, metadata: account },
    ...renderProvider().filter(isRole),
    {
      apiVersion: ClusterRoleBinding.apiVersion,
      kind: ClusterRoleBinding.kind,
      metadata: { name: bindingOf(account) },
      roleRef: { apiGroup: rbacGroup, kind: ClusterRole.kind, name: providerNames.metricsReaderRole },
      subjects: [{ kind, ...account }],
    },
  ]);
  return client.serviceAccountToken(account);
}

/** Removes what does not end with the namespace. */
export async function endMetricsReader(
  client: KubeClient,
  account: { readonly namespace: string; readonly name: string },
): Promise<void> {
  await client.delete(ClusterRoleBinding, { name: bindingOf(account) });
}

function bindingOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `metrics-of-${namespace}-${name}`;
}
