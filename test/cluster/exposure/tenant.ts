import { readFile } from 'node:fs/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { ServiceAccount } from '../../../constructs/api/resources.ts';
import { rbacGroup } from '../../../constructs/cluster/provider-names.ts';
import { renderTenants } from '../../../constructs/provider/tenants.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import type { Workbench } from '../../support/workbench.ts';

const apply = { fieldManager: 'test', force: true };
const name = 'tenant';
/** The issuer of the testbed's management cluster. */
const audience = 'https://kubernetes.default.svc.cluster.local';

/** A client with the rights that a platform gives to a tenant, in the namespace of a workbench and nowhere else. */
export async function tenantOf({ client, namespace }: Workbench, kubeconfig: string): Promise<KubeClient> {
  const [role] = renderTenants().filter(({ kind }) => kind === 'ClusterRole');
  if (!role) throw new Error('there is no role for tenants');
  await client.apply(role, apply);
  const { apiVersion, kind } = ServiceAccount;
  await client.apply({ apiVersion, kind, metadata: { namespace, name } }, apply);
  const binding = {
    apiVersion: role.apiVersion,
    kind: 'RoleBinding',
    metadata: { namespace, name },
    roleRef: { apiGroup: rbacGroup, kind: role.kind, name: role.metadata.name },
    subjects: [{ kind, name, namespace }],
  };
  await client.apply(binding, apply);

  const config = new KubeConfig();
  config.loadFromString(await readFile(kubeconfig, 'utf8'));
  const cluster = config.getCurrentCluster();
  if (!cluster?.caData) throw new Error(`${kubeconfig} has no CA`);
  const ca = Buffer.from(cluster.caData, 'base64');
  const token = await client.serviceAccountToken({ namespace, name }, audience);
  return new KubeClient(connectionFor({ server: cluster.server, ca, token }));
}
