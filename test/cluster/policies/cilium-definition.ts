import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CiliumNetworkPolicy } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { until } from '../../support/until.ts';
import { moduleDirectory } from '../../testbed/go-module.ts';
import { documentsOf } from '../../testbed/rendered-objects.ts';

const Definition = z.looseObject({
  apiVersion: z.string(),
  kind: z.literal('CustomResourceDefinition'),
  metadata: z.looseObject({ name: z.string() }),
});

/** Installs Cilium's own definition of its policies, of the version that is pinned, and resolves when they are served. */
export async function installCiliumNetworkPolicies(client: KubeClient): Promise<void> {
  const directory = await moduleDirectory('cilium', 'github.com/cilium/cilium');
  const file = join(directory, 'pkg/k8s/apis/cilium.io/client/crds/v2/ciliumnetworkpolicies.yaml');
  for (const definition of documentsOf(await readFile(file, 'utf8'))) {
    await client.apply(Definition.parse(definition), { fieldManager: 'test', force: true });
  }
  await until("Cilium's policies to be served", () => client.list(CiliumNetworkPolicy).catch(() => undefined));
}
