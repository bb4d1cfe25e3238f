import { expect, it } from 'vitest';
import { checksOf } from '../../../reconciler/cli/preflight.ts';
import { preflightChecks, type PreflightProblem } from '../../../reconciler/desired-state/upgrade/preflight/checks.ts';

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
