import { join } from 'node:path';
import { App } from 'cdk8s';
import { beforeAll, describe, expect, it } from 'vitest';
import { definitions } from '../../../../constructs/api/crd.ts';
import { Namespace } from '../../../../constructs/api/resources.ts';
import { HetznerClusterDeployment, HetznerClusterTemplate } from '../../../../constructs/stacks/hetzner/k0rdent.ts';
import { renderHetznerCluster } from '../../../../constructs/stacks/hetzner/chart.ts';
import { capoVersions } from '../../../../constructs/stacks/openstack/class-patch.ts';
import { OpenStackHostedCluster } from '../../../../constructs/stacks/openstack/cluster.ts';
import { OpenStackVariables } from '../../../../constructs/stacks/openstack/variables.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { accepted } from '../../../constructs/stacks/hetzner/values-cases.ts';
import { allTogether, cases, classes } from '../../../constructs/stacks/openstack/variable-cases.ts';
import { keptDefinitions } from '../../../support/kept-definitions.ts';
import { plainApiServer } from '../../../support/plain-api-server.ts';
import { dryRun } from '../../../support/rendering-api-server.ts';
import { patchedTemplate } from '../../../support/stacks/class-engine.ts';
import { applyObjects, resourceFor } from '../../../tools/testbed/apply-objects.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';
import { withLock } from '../../../tools/testbed/lock.ts';
import { clusterApiCore, kubeadmBootstrap } from '../../../tools/testbed/module-manifests.ts';
import { moduleObjects } from '../../../tools/testbed/rendered-objects.ts';

const server = plainApiServer({
  definitions: [...definitions, ...(await keptDefinitions())],
});

beforeAll(async () => {
  const { cache } = instanceFrom(process.env);
  for (const manifests of [clusterApiCore, kubeadmBootstrap]) {
    const silent = () => {};
    await applyObjects(
      server.client,
      await withLock(join(cache, 'lock'), silent, () => moduleObjects(cache, manifests, silent)),
    );
  }
  const { apiVersion, kind } = Namespace;
  const namespaces = ['kcm-system', 'cluster', 'stacks'];
  await applyObjects(
    server.client,
    namespaces.map((name) => ({ apiVersion, kind, metadata: { name } })),
  );
});

/** The API server checks schemas, unknown fields and CEL, and stores nothing: its versions are converted by no webhook. */
async function refusals(objects: readonly KubeObject[]): Promise<string[]> {
  const answers = objects.map((object) =>
    server.client.apply(object, { ...dryRun, resource: resourceFor(object) }).then(
      () => [],
      (error: unknown) => [String(error)],
    ),
  );
  return (await Promise.all(answers)).flat();
}

const inNamespace = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, namespace: 'stacks' },
});

/** The construct refuses the load balancer of CAPO. */
const { apiServerLoadBalancer: _, ...allButLoadBalancer } = allTogether;

describe.each(capoVersions)('an API server with the kinds of CAPO, in %s', (capo) => {
  it('accepts the ClusterClass and its templates', async () => {
    expect(await refusals(classes[capo].map(inNamespace))).toEqual([]);
  });

  const inputs: [string, OpenStackVariables][] = [
    ['the defaults', {}],
    ...Object.entries(cases).map(([name, { given }]): [string, OpenStackVariables] => [name, given]),
    ['all variables together', allTogether],
  ];
  it.each(inputs)('accepts the templates with %s', async (_, given) => {
    const variables = {
      ...OpenStackVariables.parse(given),
      builtin: { machineDeployment: { version: 'v1.34.10', class: 'default-worker' } },
    };
    const kinds = ['OpenStackClusterTemplate', 'OpenStackMachineTemplate'];
    expect(await refusals(kinds.map((kind) => inNamespace(patchedTemplate(classes[capo], kind, variables))))).toEqual(
      [],
    );
  });

  it('accepts what a user applies', async () => {
    const chart = new OpenStackHostedCluster(new App(), 'cluster', {
      name: 'prod',
      namespace: 'cluster',
      version: 'v1.34.10',
      stack: { version: 'v1', namespace: 'stacks', capo },
      workers: { 'md-0': 2 },
      variables: allButLoadBalancer,
      clouds: 'clouds: {}',
    });
    expect(await refusals(chart.toJson() as KubeObject[])).toEqual([]);
  });
});

describe('an API server with the kinds of CAPH and kcm', () => {
  it.each(Object.entries(accepted))('accepts a cluster with %s', async (_, values) => {
    const objects = renderHetznerCluster('cluster01', 'kcm-system', values);
    const props = { name: 'cluster01', credential: 'any', config: values };
    const deployment = new HetznerClusterDeployment(new App(), 'deployment', props).toJson() as KubeObject[];
    expect(await refusals([...objects, ...deployment])).toEqual([]);
  });

  it('accepts the ClusterTemplate, which cannot change', async () => {
    const template = (repository: string) =>
      new HetznerClusterTemplate(new App(), 'template', { repository }).toJson() as KubeObject[];
    await applyObjects(server.client, template('ours'));
    expect(await refusals(template('others'))).toEqual([expect.stringContaining('Spec is immutable')]);
  });

  it('refuses a field that the kinds do not have', async () => {
    const objects = renderHetznerCluster('cluster01', 'kcm-system', accepted['the defaults'] ?? ({} as never));
    const [cluster] = objects.filter(({ kind }) => kind === 'HetznerCluster');
    const spec = { ...(cluster?.['spec'] as object), controlPlaneRegion: 'nbg1' };
    expect(await refusals([{ ...cluster, spec } as KubeObject])).toEqual([
      expect.stringContaining('controlPlaneRegion'),
    ]);
  });
});
