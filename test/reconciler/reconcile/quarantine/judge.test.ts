import { describe, expect, it, test } from 'vitest';
import {
  afterEnd,
  afterSecondProcess,
  type Conduct,
  type Conducts,
  type InHand,
  isSuspect,
  takenOver,
} from '../../../../reconciler/reconcile/quarantine/judge.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = 100 * hour;

const acting = (key: string): InHand => ({ key, isTask: false });
const behaved = { key: 'a', hasBehaved: true };
const task = (key: string): InHand => ({ key, isTask: true });

/** Those in quarantine after ends with these in hand, a minute apart. */
function apartAfter(...ends: (readonly InHand[])[]): string[] {
  const after = ends.reduce<Conducts>((known, inHand, index) => afterEnd(known, inHand, now + index * minute), {});
  return Object.entries(after).flatMap(([key, { apart }]) => (apart === undefined ? [] : [`${key}: ${apart}`]));
}

test.each<{ readonly ends: (readonly InHand[])[]; readonly apart: string[] }>([
  { ends: [[acting('a')]], apart: [] },
  { ends: [[acting('a')], [acting('b')]], apart: [] },
  { ends: [[acting('a')], [acting('a')]], apart: ['a: hosted'] },
  {
    ends: [
      [acting('a'), acting('b')],
      [acting('b'), acting('c')],
    ],
    apart: ['b: hosted'],
  },
  { ends: [[acting('a')], [], [acting('a')]], apart: ['a: hosted'] },
  // An upload of hours is in hand at most ends, and seldom their cause.
  {
    ends: [
      [task('u'), acting('a')],
      [task('u'), acting('a')],
    ],
    apart: ['a: hosted'],
  },
  {
    ends: [
      [task('u'), acting('a')],
      [task('u'), acting('b')],
    ],
    apart: ['u: hosted'],
  },
  { ends: [[task('u')], [task('u')]], apart: ['u: hosted'] },
  // In quarantine, what is left of the work for it has ended the process.
  { ends: [[acting('a')], [acting('a')], [acting('a')]], apart: ['a: everything'] },
  { ends: [[acting('a')], [acting('a')], [acting('b')], [acting('b')]], apart: ['a: hosted', 'b: hosted'] },
])('after ends with $ends in hand, apart are $apart', ({ ends, apart }) => {
  expect(apartAfter(...ends)).toEqual(apart);
});

it('after many ends those in quarantine are known, and of the others the last ones', () => {
  const [first, second] = [afterEnd({}, [acting('a')], now), now + minute];
  const many = Array.from({ length: 4_000 }, (_, index) => acting(`many-${index}`));
  const known = afterEnd(afterEnd(first, [acting('a'), ...many], second), [acting('last')], second + minute);
  expect(known['a']?.apart).toBe('hosted');
  expect(known['last']?.ends).toHaveLength(1);
  expect(Object.keys(known)).toHaveLength(2_048 + 1);
});

describe('an end', () => {
  it('counts for an hour', () => {
    const one = afterEnd({}, [acting('a')], now);
    expect(afterEnd(one, [acting('a')], now + hour - 1)['a']?.apart).toBe('hosted');
    expect(afterEnd(one, [acting('a')], now + hour)['a']?.apart).toBeUndefined();
  });

  it('makes a suspect of what was in hand', () => {
    const { a } = afterEnd({}, [acting('a')], now);
    expect([isSuspect(a, now), isSuspect(a, now + hour), isSuspect(undefined, now)]).toEqual([true, false, false]);
  });
});

describe('a quarantine', () => {
  const first = afterEnd(afterEnd({}, [acting('a')], now), [acting('a')], now);
  const trialMs = ({ a }: Conducts, since = now) => (a?.retryAt ?? NaN) - since;

  it('is followed by trials with growing intervals, of six hours at most', () => {
    const delays = [trialMs(first)];
    let known = first;
    for (let trial = 0; trial < 12; trial++)
      delays.push(trialMs((known = afterSecondProcess(known, { key: 'a', hasBehaved: false }, now))));
    expect(delays.slice(0, 4)).toEqual([minute, 2 * minute, 4 * minute, 8 * minute]);
    expect(delays.at(-1)).toBe(6 * hour);
  });

  it('ends with a trial in which it behaves, and is back after one end, for longer', () => {
    const free = afterSecondProcess(first, behaved, now + minute);
    expect(free['a']).toEqual<Conduct>({ ends: [], faults: 1, changedAt: now + minute });
    const again = afterEnd(free, [acting('a')], now + 3 * hour);
    expect(again['a']?.apart).toBe('hosted');
    expect(trialMs(again, now + 3 * hour)).toBe(2 * minute);
  });

  it('is forgotten after a day without one', () => {
    const free = afterSecondProcess(first, behaved, now);
    expect(afterEnd(free, [acting('b')], now + 24 * hour)['a']).toBeUndefined();
    expect(afterEnd(first, [acting('b')], now + 24 * hour)['a']?.apart).toBe('hosted');
  });

  it('is taken over from another instance, unless this one has ended one', () => {
    const taken = takenOver({}, 'a', 'everything', now);
    expect(taken['a']).toMatchObject({ apart: 'everything', retryAt: now + minute });
    const suspected = afterEnd({}, [acting('a')], now);
    expect(takenOver(suspected, 'a', 'hosted', now)['a']?.apart).toBe('hosted');
    const free = afterSecondProcess(first, behaved, now);
    expect(takenOver(free, 'a', 'hosted', now)).toBe(free);
    expect(takenOver(first, 'a', 'everything', now)).toBe(first);
  });
});

test('a trial says nothing of what is in no quarantine', () => {
  expect(afterSecondProcess({}, behaved, now)).toEqual({});
});
