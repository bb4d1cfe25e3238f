import { expect, test } from 'vitest';
import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { renderSamples } from '../../support/rendered-objects.ts';
import { dryRun, renderingApiServer, withoutAddress } from '../../support/rendering-api-server.ts';
import { sendRandomSpecs, randomNamespace } from '../../support/spec-fields/accepted.ts';

const samples = await renderSamples();

const server = renderingApiServer([...samples.map(({ cluster }) => cluster.namespace), randomNamespace]);

test.each(samples)('the API server accepts sample $name and everything it renders', async (sample) => {
  const given = sample.source.filter(isHostedControlPlane);
  expect(given).toHaveLength(1);
  const hosted = renderWorkload(sample.cluster, sample.facts).map(withoutAddress);
  for (const object of [...given, ...sample.objects, ...hosted]) {
    await server.client.apply<KubeObject>(object, dryRun);
  }
});

test('the API server refuses a random spec by the name of a field, or accepts it and everything it renders', async () => {
  const { accepted, problems } = await sendRandomSpecs(server.client, { first: 0, specs: 200, rendered: 6 });
  expect(problems).toEqual([]);
  expect(accepted).toBeGreaterThan(40);
});

function isHostedControlPlane(object: unknown): object is KubeObject {
  return (object as KubeObject).kind === HostedControlPlane.kind;
}
