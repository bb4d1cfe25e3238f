import { describe, expect, it } from 'vitest';
import {
  planRotation,
  type RotationState,
  type RotationStep,
} from '../../../../reconciler/certificates/ca/plan-ca-rotation.ts';

const stable: RotationState = {
  trusted: ['old'],
  next: undefined,
  isWanted: false,
  mayMakeNext: true,
  isDistributed: false,
  isReissued: false,
  areWorkersMoved: false,
};

describe('the next step of a rotation', () => {
  it.each<[string, Partial<RotationState>, RotationStep]>([
    ['is none if one CA signs and no rotation is requested', {}, { kind: 'settled' }],
    ['is none if there is nothing to rotate', { trusted: [] }, { kind: 'settled' }],
    ['creates a successor on request', { isWanted: true }, { kind: 'begin' }],
    ["waits for a user's successor", { isWanted: true, mayMakeNext: false }, { kind: 'awaitSuccessor' }],
    [
      'distributes trust in the successor',
      { isWanted: true, next: 'new' },
      { kind: 'distribute', trusted: ['old', 'new'] },
    ],
    ['discards a successor that is not requested any more', { next: 'new' }, { kind: 'discard' }],
    [
      'withdraws trust that is not requested any more',
      { next: 'new', trusted: ['old', 'new'], isDistributed: true },
      { kind: 'withdraw', trusted: ['old'] },
    ],
    [
      'waits until all components trust it',
      { isWanted: true, next: 'new', trusted: ['old', 'new'], isReissued: true, areWorkersMoved: true },
      { kind: 'prove' },
    ],
    [
      'then makes it sign',
      { isWanted: true, next: 'new', trusted: ['old', 'new'], isDistributed: true },
      { kind: 'sign', trusted: ['new', 'old'] },
    ],
    [
      'then does not go back any more',
      { next: 'new', trusted: ['new', 'old'], isDistributed: true },
      { kind: 'reissue' },
    ],
    [
      'waits for nodes when everything else has moved',
      { next: 'new', trusted: ['new', 'old'], isReissued: true },
      { kind: 'moveWorkers' },
    ],
    [
      'waits for everything else when nodes have moved',
      { next: 'new', trusted: ['new', 'old'], areWorkersMoved: true },
      { kind: 'reissue' },
    ],
    [
      'then retires the old one',
      { next: 'new', trusted: ['new', 'old'], isReissued: true, areWorkersMoved: true },
      { kind: 'retire', trusted: ['new'] },
    ],
    [
      "then retires a user's old one, too",
      { next: 'new', trusted: ['new', 'old'], mayMakeNext: false, isReissued: true, areWorkersMoved: true },
      { kind: 'retire', trusted: ['new'] },
    ],
    ['waits until no component trusts the old one', { next: 'new', trusted: ['new'] }, { kind: 'cleanUp' }],
    ['then ends', { next: 'new', trusted: ['new'], isDistributed: true }, { kind: 'finish' }],
    [
      'ends one rotation before it starts another',
      { next: 'new', trusted: ['new', 'old'], isWanted: true, isReissued: true, areWorkersMoved: true },
      { kind: 'retire', trusted: ['new'] },
    ],
    [
      'retires a CA that a backup from the middle of a rotation has restored, and whose successor is lost',
      { trusted: ['old', 'lost'], isReissued: true, areWorkersMoved: true },
      { kind: 'retire', trusted: ['old'] },
    ],
    [
      'keeps additional CA certificates that a user trusts',
      { trusted: ['old', 'theirs'], mayMakeNext: false },
      { kind: 'settled' },
    ],
    [
      'keeps additional CA certificates that a user trusts while the next one is distributed',
      { trusted: ['old', 'theirs'], mayMakeNext: false, isWanted: true, next: 'new' },
      { kind: 'distribute', trusted: ['old', 'theirs', 'new'] },
    ],
  ])('%s', (_, state, step) => {
    expect(planRotation({ ...stable, ...state })).toEqual(step);
  });
});

/** A model of two components that reload files at any time, each with the content it read last. */
interface ModelState {
  readonly trusted: readonly string[];
  readonly next: string | undefined;
  readonly isWanted: boolean;
  /** What each of two components trusts. */
  readonly trusts: readonly (readonly string[])[];
  /** The signer of the certificate that each of the two presents. */
  readonly presents: readonly string[];
}

type Move = (model: ModelState) => ModelState | undefined;

const same = (a: readonly string[], b: readonly string[]) => [...a].sort().join() === [...b].sort().join();

function stateOf({ trusted, next, isWanted, trusts, presents }: ModelState): RotationState {
  const all = presents.every((signer) => signer === trusted[0]);
  return {
    trusted,
    next,
    isWanted,
    mayMakeNext: true,
    isDistributed: trusts.every((each) => same(each, trusted)),
    isReissued: all,
    areWorkersMoved: all,
  };
}

function carriedOut(model: ModelState): ModelState | undefined {
  const step = planRotation(stateOf(model));
  switch (step.kind) {
    case 'begin':
      return { ...model, next: model.trusted[0] === 'old' ? 'new' : 'newer' };
    case 'distribute':
    case 'withdraw':
    case 'retire':
      return { ...model, trusted: step.trusted };
    case 'sign':
      return { ...model, trusted: step.trusted, isWanted: false };
    case 'discard':
    case 'finish':
      return { ...model, next: undefined };
    case 'awaitSuccessor':
    case 'prove':
    case 'reissue':
    case 'moveWorkers':
    case 'cleanUp':
    case 'settled':
      return undefined;
  }
}

const replaced = <T>(list: readonly T[], index: number, value: T) =>
  list.map((each, at) => (at === index ? value : each));

const moves: readonly Move[] = [
  carriedOut,
  ...[0, 1].flatMap((index): Move[] => [
    (model) => ({ ...model, trusts: replaced(model.trusts, index, model.trusted) }),
    (model) => ({ ...model, presents: replaced(model.presents, index, model.trusted[0] ?? '') }),
  ]),
];

/** Every state that is reachable by these moves in any order; the process may die after every move. */
function reachable(begin: ModelState, more: readonly Move[]): ModelState[] {
  const seen = new Map<string, ModelState>();
  const open = [begin];
  for (let model = open.pop(); model; model = open.pop()) {
    const key = JSON.stringify(model);
    if (seen.has(key)) continue;
    seen.set(key, model);
    for (const move of more) {
      const after = move(model);
      if (after) open.push(after);
    }
  }
  return [...seen.values()];
}

describe('a rotation with any order of events', () => {
  const begin: ModelState = {
    trusted: ['old'],
    next: undefined,
    isWanted: true,
    trusts: [['old'], ['old']],
    presents: ['old', 'old'],
  };
  // Two rotations at most, so that the number of states is finite.
  const change: Move = (model) => (model.trusted[0] === 'newer' ? undefined : { ...model, isWanted: !model.isWanted });
  const states = reachable(begin, [...moves, change]);

  it('has a model with many states', () => {
    expect(states.length).toBeGreaterThan(100);
  });

  it('never lets a component present a certificate that the other one does not trust', () => {
    const broken = states.filter(({ trusts, presents }) =>
      presents.some((signer) => trusts.some((trusted) => !trusted.includes(signer))),
    );
    expect(broken).toEqual([]);
  });

  it('ends from every state once the request does not change any more', () => {
    const stuck = states.filter((model) => {
      let present = model;
      for (let round = 0; round < 20; round++) {
        for (const move of moves) present = move(present) ?? present;
      }
      return planRotation(stateOf(present)).kind !== 'settled' || present.trusted.length > 1 || present.next;
    });
    expect(stuck).toEqual([]);
  });
});
