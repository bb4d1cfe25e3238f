import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { hostedControlPlaneCRD, hostedControlPlaneTemplateCRD } from '../../../constructs/api/crd.ts';
import { HostedControlPlane, Namespace, Service } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { renderSamples } from '../../support/rendered-objects.ts';
import { applyObjects } from '../../testbed/apply-objects.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { withLock } from '../../testbed/lock.ts';
import { cilium, gatewayApi, traefik } from '../../testbed/module-manifests.ts';
import { moduleObjects } from '../../testbed/rendered-objects.ts';

const samples = await renderSamples();
const apply = { fieldManager: 'test', force: true };

const { client } = plainApiServer({
  // The samples of older minors use an older version of admission policies.
  flags: ['--allow-privileged=true', '--runtime-config=admissionregistration.k8s.io/v1beta1=true'],
  definitions: [hostedControlPlaneCRD, hostedControlPlaneTemplateCRD],
});
beforeAll(async () => {
  for (const manifests of [gatewayApi, cilium, traefik]) {
    const { cache } = instanceFrom(process.env);
    const silent = () => {};
    const objects = await withLock(join(cache, 'lock'), silent, () => moduleObjects(cache, manifests, silent));
    await applyObjects(
      client,
      objects.filter(({ kind }) => kind === 'CustomResourceDefinition'),
    );
  }
  const { apiVersion, kind } = Namespace;
  for (const name of new Set(['kube-public', ...samples.map(({ cluster }) => cluster.namespace)])) {
    await client.apply({ apiVersion, kind, metadata: { name } }, apply);
  }
});

test.each(samples)('the API server accepts sample $name and everything it renders', async (sample) => {
  const given = sample.source.filter(isHostedControlPlane);
  expect(given).toHaveLength(1);
  const hosted = renderWorkload(sample.cluster, sample.facts).map(withoutAddress);
  for (const object of [...given, ...sample.objects, ...hosted]) {
    await client.apply<KubeObject>(object, { ...apply, dryRun: true });
  }
});

/** The Service network of this server differs from that of some samples. */
function withoutAddress(object: RenderedObject): RenderedObject {
  if (object.kind !== Service.kind) return object;
  return { ...object, spec: { ...(object['spec'] as object), clusterIP: undefined, clusterIPs: undefined } };
}

function isHostedControlPlane(object: unknown): object is KubeObject {
  return (object as KubeObject).kind === HostedControlPlane.kind;
}
