import { expect, test } from 'vitest';
import { renderingApiServer } from '../../../support/rendering-api-server.ts';
import { randomNamespace, sendRandomSpecs } from '../../../support/spec-fields/accepted.ts';

const server = renderingApiServer([randomNamespace]);

test('the API server refuses a random spec by the name of a field, or accepts it and everything it renders', async () => {
  // the first ones are those of test/cluster/api/samples
  const { accepted, problems } = await sendRandomSpecs(server.client, { first: 200, specs: 300, rendered: 9 });
  expect(problems).toEqual([]);
  expect(accepted).toBeGreaterThan(60);
});
