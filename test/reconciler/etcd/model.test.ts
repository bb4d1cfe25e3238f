import { beforeAll, describe, expect, it } from 'vitest';
import { type Guard, mayDisrupt } from '../../../reconciler/etcd/quorum-guard.ts';
import { founder, member, misconfigured, type Slot, vacancy, type ModelState } from './etcd-model.ts';
import { type Exploration, explore } from './exploration.ts';

interface Scenario {
  readonly name: string;
  readonly slots: readonly Slot[];
  readonly replicas: number;
  readonly failures: number;
  readonly isFull?: boolean;
}

/** Exploring hundreds of thousands of states takes a while on a busy machine. */
const limitMs = 120_000;

const times = (count: number, slot: Slot) => Array.from({ length: count }, () => slot);
const outdated: Slot = { ...member, isOutdated: true };
const unmarked: Slot = { ...member, mark: 'none' };
const going: Slot = { ...member, isVolumeGoing: true };
const bloated: Slot = { ...member, isBloated: true };

const scenarios: readonly Scenario[] = [
  { name: 'a new template for the only member', slots: [outdated], replicas: 1, failures: 3 },
  { name: 'a new template for 3 members', slots: times(3, outdated), replicas: 3, failures: 2 },
  { name: 'a new template for 5 members', slots: times(5, outdated), replicas: 5, failures: 1 },
  { name: '5 members that fail', slots: times(5, member), replicas: 5, failures: 2 },
  { name: '3 members, unmarked', slots: times(3, { ...outdated, mark: 'none' }), replicas: 3, failures: 2 },
  { name: 'the formation of 3 members', slots: [unmarked, unmarked, founder], replicas: 3, failures: 2 },
  { name: 'the formation of 5 members', slots: [...times(3, unmarked), founder, founder], replicas: 5, failures: 1 },
  {
    name: 'a wrong template that never formed a cluster of 3',
    slots: times(3, misconfigured),
    replicas: 3,
    failures: 2,
  },
  { name: 'a wrong template that never formed a cluster of 1', slots: [misconfigured], replicas: 1, failures: 3 },
  { name: 'fragmented databases of 3 members', slots: times(3, bloated), replicas: 3, failures: 2 },
  { name: 'fragmented databases of 5 members', slots: times(5, bloated), replicas: 5, failures: 1 },
  { name: '3 full members', slots: times(3, bloated), replicas: 3, failures: 2, isFull: true },
  { name: '1 to 3', slots: [member, ...times(2, vacancy)], replicas: 3, failures: 3 },
  { name: '3 to 5', slots: [...times(3, member), ...times(2, vacancy)], replicas: 5, failures: 2 },
  { name: '5 to 3', slots: times(5, member), replicas: 3, failures: 2 },
  { name: '3 members of which one has a deleted claim', slots: [going, member, member], replicas: 3, failures: 2 },
  { name: '3 members with deleted claims', slots: times(3, going), replicas: 3, failures: 1 },
  {
    name: 'a new template for 3 members with deleted claims',
    slots: times(3, { ...going, isOutdated: true }),
    replicas: 3,
    failures: 1,
  },
  { name: '1 to 3 because of its deleted claim', slots: [going, vacancy, vacancy], replicas: 3, failures: 2 },
  { name: '3 to 1 with deleted claims', slots: times(3, going), replicas: 1, failures: 2 },
  { name: '3 to 1', slots: times(3, member), replicas: 1, failures: 3 },
];

function stateOf({ slots, failures, isFull = false }: Scenario): ModelState {
  return { slots, leader: 0, remembered: -1, isFull, isCompacted: false, leftAlarms: 0, failuresLeft: failures };
}

describe.each(scenarios)('with any failures in any order during $name', (scenario) => {
  let found: Exploration;
  beforeAll(() => {
    found = explore(stateOf(scenario), { replicas: scenario.replicas, guard: mayDisrupt });
  }, limitMs);

  it('no step of the operator loses the quorum, and no two are in progress at once', () => {
    expect(found.states).toBeGreaterThan(10);
    expect(found.violations.slice(0, 3)).toEqual([]);
  });

  it('the desired members are reached when nothing more fails, except after a lost majority', () => {
    expect(found.stuck.slice(0, 3)).toEqual([]);
  });
});

/** As `mayDisrupt`, but takes a member that nobody knows for one that nobody needs. */
const trustingSilence: Guard = (observation, one, act) =>
  observation.membership === 'unknown' ? { isAllowed: true } : mayDisrupt(observation, one, act);

describe('the only member, whose claim is deleted', () => {
  it.each([0, 1, 2])('keeps its pod in spite of a new template, after %i failures', (failuresLeft) => {
    const scenario = { name: '', slots: [{ ...going, isOutdated: true }], replicas: 1, failures: failuresLeft };
    expect(explore(stateOf(scenario), { replicas: 1, guard: mayDisrupt }).violations).toEqual([]);
  });
});

describe('the model', () => {
  it.each<[string, string, Guard]>([
    ['a new template for 3 members', 'the guard allows everything', () => ({ isAllowed: true })],
    ['fragmented databases of 5 members', 'the guard allows everything', () => ({ isAllowed: true })],
    ['3 to 1', 'the guard allows everything', () => ({ isAllowed: true })],
    ['a new template for 3 members', 'the guard allows everything while no member answers', trustingSilence],
  ])(
    'finds lost quorums during %s if %s',
    (name, _, guard) => {
      const scenario = scenarios.find((one) => one.name === name);
      if (!scenario) throw new Error(`no scenario ${name}`);
      const { violations } = explore(stateOf({ ...scenario, failures: Math.min(scenario.failures, 2) }), {
        replicas: scenario.replicas,
        guard,
      });
      expect(violations.some((violation) => violation.startsWith('quorum lost'))).toBe(true);
    },
    limitMs,
  );
});
