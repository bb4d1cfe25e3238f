import { expect, it } from 'vitest';
import { readControlPlane } from '../../../reconciler/cli/control-plane.ts';
import { checksOf, refusedVersion } from '../../../reconciler/cli/preflight.ts';
import { preflightChecks, type PreflightProblem } from '../../../reconciler/desired-state/upgrade/preflight/checks.ts';
import { hostedControlPlaneObject } from '../../support/scope.ts';

const problem = (check: PreflightProblem['check']): PreflightProblem => ({
  check,
  reason: 'PreflightFailed' as PreflightProblem['reason'],
  message: `${check} is in danger`,
});

it('each check has a result: one that an annotation skips holds nothing, and the configuration may come later', () => {
  const problems = [problem('etcd'), problem('nodes')];
  const checks = checksOf({ problems, skipped: ['nodes'], later: 'once the spec has the version' });
  expect(checks.map(({ check }) => check)).toEqual(preflightChecks);
  expect(Object.fromEntries(checks.map(({ check, result, message }) => [check, `${result} ${message}`]))).toMatchObject(
    {
      backup: 'passed ',
      etcd: 'failed etcd is in danger',
      nodes: 'skipped nodes is in danger',
      configuration: 'later once the spec has the version',
    },
  );
});

it('the configuration is passed, or fails as every other check', () => {
  const configuration = (problems: readonly PreflightProblem[]) =>
    checksOf({ problems, skipped: [], later: undefined }).find(({ check }) => check === 'configuration')?.result;
  expect(configuration([])).toBe('passed');
  expect(configuration([problem('configuration')])).toBe('failed');
});

it.each([
  ['v1.36.4', 'spec.version cannot go back to v1.36.4, because an API server runs v1.37.1: hcp rollback c1 -n team'],
  ['v1.37.1', 'c1 runs v1.37.1 already: set another version with --to'],
  ['v1.39.0', 'v1.39.0 is more than one minor ahead of v1.37.1, which an API server runs'],
  ['v1.37.2', 'accepted'],
  ['v1.38.0', 'accepted'],
])('%s is refused before the checks if the API refuses it', (version, message) => {
  const object = hostedControlPlaneObject({
    spec: { version: 'v1.37.1' },
    status: { version: 'v1.37.1', versions: [{ version: 'v1.37.1', replicas: 2 }] },
  });
  expect(refusedVersion(readControlPlane(object), version) ?? 'accepted').toContain(message);
});
