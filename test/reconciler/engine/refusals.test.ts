import { expect, it } from 'vitest';
import { Service } from '../../../constructs/api/resources.ts';
import { done, type Outcome, wait } from '../../../reconciler/engine/outcome.ts';
import { Refusals } from '../../../reconciler/engine/refusals.ts';
import { Contested } from '../../../reconciler/kube/apply-set.ts';

const now = new Date('2026-01-01T00:00:00Z');
const refused = new Error('denied by a policy');
const contested = new Contested('Service team/b was changed 5 times');

function judged(errors: readonly Error[], outcome: Outcome = done()) {
  const refusals = new Refusals();
  const { apiVersion, kind } = Service;
  for (const [index, error] of errors.entries())
    refusals.note({ apiVersion, kind, metadata: { name: `object-${index}` } }, error);
  return refusals.judge(outcome, now);
}

it.each([
  ['refused', [refused], 'ObjectRefused', 'an API server refuses an object, which stays as it was; denied by a policy'],
  ['contested: no API server refuses it', [contested], 'ObjectContested', contested.message],
  [
    'one of each: the refused one is told first',
    [contested, refused],
    'ObjectRefused',
    `an API server refuses an object, which stays as it was; denied by a policy; ${contested.message}`,
  ],
])('an object that is %s', (_what, errors, reason, message) => {
  expect(judged(errors)).toMatchObject({ kind: 'degraded', reason, message });
  expect(judged(errors, wait('WaitingForPods', 'pods start'))).toMatchObject({
    kind: 'wait',
    reason,
    message: `${message}; pods start`,
  });
});

it('a phase whose objects are all applied keeps its outcome', () => {
  const outcome = done();
  expect(judged([], outcome)).toBe(outcome);
});
