import { join } from 'node:path';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { runningMachine } from './access.ts';
import { applyObjects } from './apply-objects.ts';
import { findFurtherBinaries } from './binaries.ts';
import { metricsServer } from './families.ts';
import { moduleDirectory } from './go-module.ts';
import { importArchive } from './image-store.ts';
import { metricsServerImage, pack } from './images.ts';
import { binDirectory, type Instance } from './instance.ts';
import { type Report, until } from './progress.ts';
import { kustomized, parseObjects } from './rendered-objects.ts';

interface DeploymentObject extends KubeObject {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

interface Container {
  readonly args: readonly string[];
}

/** Installs metrics-server from its own manifests; ends when it answers with the use of the node. */
export async function installMetricsServer(instance: Instance, client: KubeClient, report: Report): Promise<void> {
  const binaries = await findFurtherBinaries([metricsServer], instance.cache, report);
  const [image] = await pack(instance.cache, [await metricsServerImage(binaries)], report);
  if (!image) throw new Error('no image of metrics-server was packed');
  await importArchive(await runningMachine(instance, 'm'), image.archive);
  const module = await moduleDirectory(metricsServer.name, metricsServer.module);
  const rendered = await kustomized(join(binDirectory(instance), 'kubectl'), module, 'manifests/base');
  const objects = parseObjects(JSON.stringify(rendered));
  await applyObjects(
    client,
    objects.map((object) =>
      object.kind === 'Deployment' ? here(object as DeploymentObject, image.reference) : object,
    ),
  );
  await until({ what: 'metrics of the node', timeoutMs: 120_000 }, async () => {
    const answer = await client.raw('/apis/metrics.k8s.io/v1beta1/nodes').catch(() => '{}');
    return ((JSON.parse(answer) as { items?: unknown[] }).items ?? []).length > 0;
  });
}

/** With the image of the testbed, whose kubelet signs its serving certificate itself. */
function here(deployment: DeploymentObject, image: string): KubeObject {
  const { template } = deployment.spec;
  const containers = template.spec.containers.map((container) => ({
    ...container,
    image,
    args: [...container.args, '--kubelet-insecure-tls'],
  }));
  const patched = { ...template, spec: { ...template.spec, containers } };
  return { ...deployment, spec: { ...deployment.spec, template: patched } } as KubeObject;
}
