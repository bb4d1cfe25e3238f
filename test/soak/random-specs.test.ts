import { expect, test } from 'vitest';
import { parseHostedControlPlane } from '../../constructs/api/parse-manifest.ts';
import { renderingApiServer } from '../support/rendering-api-server.ts';
import { hostedControlPlaneObject } from '../support/scope.ts';
import { sendRandomSpecs, randomNamespace } from '../support/spec-fields/accepted.ts';
import { expectNoEndlessWrites } from '../support/spec-fields/endless-writes.ts';
import { randomSpec } from '../support/spec-fields/random-specs.ts';

/** Other specs than those of `npm test`. */
const first = 1000;

const server = renderingApiServer([randomNamespace]);

test('the API server refuses 10,000 random specs by the name of a field, or accepts them and what they render', async () => {
  for (let done = 0; done < 10_000; done += 500) {
    const { problems } = await sendRandomSpecs(server.client, { first: first + done, specs: 500, rendered: 10 });
    expect(problems).toEqual([]);
  }
}, 1_800_000);

test('random specs cause no errors, and no writes without end', async () => {
  let valid = 0;
  for (let seed = first; valid < 100; seed++) {
    const spec = randomSpec(seed);
    if (!parseHostedControlPlane(hostedControlPlaneObject({ spec })).valid) continue;
    valid++;
    await expect(expectNoEndlessWrites(spec), `seed ${seed}`).resolves.toBeUndefined();
  }
}, 1_800_000);
