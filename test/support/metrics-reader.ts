import { Agent, fetch } from 'undici';
import { ClusterRole, ClusterRoleBinding, ServiceAccount } from '../../constructs/api/resources.ts';
import { metricsPath, providerNames, rbacGroup } from '../../constructs/cluster/provider-names.ts';
import { renderProvider } from '../../constructs/provider/chart.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { applyObjects } from '../tools/testbed/apply-objects.ts';

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

/** Removes the ServiceAccount and its binding. The role is also that of other readers. */
export async function endMetricsReader(
  client: KubeClient,
  account: { readonly namespace: string; readonly name: string },
): Promise<void> {
  await client.delete(ClusterRoleBinding, { name: bindingOf(account) });
  await client.delete(ServiceAccount, account);
}

/** Reads the metrics at a port of this machine. Clients do not verify the certificate. @param token none when unset */
export async function scrape(
  port: number,
  token?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`https://127.0.0.1:${port}${metricsPath}`, { headers, dispatcher });
    return { status: answer.status, text: await answer.text() };
  } finally {
    await dispatcher.close();
  }
}

function bindingOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `metrics-of-${namespace}-${name}`;
}
