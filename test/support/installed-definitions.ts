import { definitions, hostedControlPlaneCRD } from '../../constructs/api/crd.ts';
import { CustomResourceDefinition } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { until } from './until.ts';

interface Definition extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const installed = new Map<string, Promise<void>>();

/**
 * Installs the provider's CRDs in the API server of this kubeconfig. It does so once per process, because an API server
 * takes long to compare CRDs of this size.
 */
export function installDefinitions(client: KubeClient, kubeconfig: string): Promise<void> {
  const done = installed.get(kubeconfig) ?? install(client);
  installed.set(kubeconfig, done);
  return done;
}

async function install(client: KubeClient): Promise<void> {
  for (const definition of definitions) {
    await client.apply(definition, { fieldManager: 'test', force: true });
  }
  await until('the CRDs to be established', async () => {
    const { status } = await client.get<Definition>(CustomResourceDefinition, hostedControlPlaneCRD.metadata);
    return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
  });
}
