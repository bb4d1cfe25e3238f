import { expect, it } from 'vitest';
import { parseHostedControlPlane } from '../../../../constructs/api/parse-manifest.ts';
import { networkOf } from '../../../../constructs/cluster/cluster.ts';
import { hostedControlPlaneObject } from '../../../support/scope.ts';
import { renderingOf } from '../../../support/spec-fields/effects.ts';
import { expectNoEndlessWrites } from '../../../support/spec-fields/endless-writes.ts';
import { randomSpec } from '../../../support/spec-fields/random-specs.ts';

/** Those that test/scenarios/spec/random-specs leaves out. */
const parsed = Array.from({ length: 330 }, (_, index) => {
  const seed = 170 + index;
  const spec = randomSpec(seed);
  return { seed, spec, result: parseHostedControlPlane(hostedControlPlaneObject({ spec })) };
});
const valid = parsed.flatMap(({ seed, spec, result }) => (result.valid ? [{ seed, spec, ...result }] : []));
const refused = parsed.flatMap(({ seed, result }) => (result.valid ? [] : [{ seed, ...result }]));

it('every random spec that is refused is refused by the name of a field', () => {
  expect(refused.length).toBeGreaterThan(60);
  for (const { seed, problems, message } of refused) {
    expect(problems.length, `seed ${seed}`).toBeGreaterThan(0);
    for (const { path } of problems) expect(path, `seed ${seed}: ${message}`).toMatch(/^spec\b/);
  }
});

it('every other random spec is rendered', () => {
  expect(valid.length).toBeGreaterThan(60);
  for (const { seed, hostedControlPlane } of valid) {
    const cluster = { name: 'c1', namespace: 'team', network: networkOf(undefined), spec: hostedControlPlane.spec };
    expect(() => renderingOf(cluster), `seed ${seed}`).not.toThrow();
  }
});

it.each(valid.slice(0, 10))('the random spec $seed causes no error, and no writes without end', async ({ spec }) => {
  await expect(expectNoEndlessWrites(spec)).resolves.toBeUndefined();
});
