import { describe, expect, it } from 'vitest';
import { nextTurn, type TurnSituation } from '../../../../reconciler/engine/tasks/next-turn.ts';

const minute = 60_000;
const mebibyte = 1 << 20;
const limit = { atOnce: 4, perNamespace: 2, slowAtOnce: 2, shareMs: 2 * minute };

type Running = TurnSituation['running'][number];
const running = (namespace: string, changes: Partial<Running> = {}): Running => ({
  namespace,
  heldMs: 0,
  bytes: 0,
  isEnding: false,
  wasSlow: false,
  ...changes,
});
const slow = { heldMs: 10 * minute };

interface Situation extends Partial<Omit<TurnSituation, 'waiting'>> {
  /** Namespaces; those that end with `~` were slow. */
  readonly waiting?: readonly string[];
}

const decide = ({ waiting = [], ...changes }: Situation) =>
  nextTurn({
    limit,
    running: [],
    lastBegan: new Map(),
    ...changes,
    waiting: waiting.map((namespace) => ({ namespace, wasSlow: namespace.endsWith('~') })),
  });

describe('of tasks that wait', () => {
  it.each<[string, Situation, object]>([
    ['none begins without one', {}, { kind: 'wait' }],
    ['the first one begins', { waiting: ['a', 'b'] }, { kind: 'begin', index: 0 }],
    [
      'that of a namespace which holds fewer begins',
      { waiting: ['a', 'b'], running: [running('a')] },
      { kind: 'begin', index: 1 },
    ],
    [
      'that of the namespace that began least recently begins, however many the others have',
      {
        waiting: ['a', 'a', 'a', 'b'],
        lastBegan: new Map([
          ['a', 7],
          ['b', 6],
        ]),
      },
      { kind: 'begin', index: 3 },
    ],
    [
      'that of a namespace which has never begun comes before all others',
      { waiting: ['a', 'b'], lastBegan: new Map([['a', 1]]) },
      { kind: 'begin', index: 1 },
    ],
    [
      'none begins above the limit of its namespace, although there are free turns',
      { waiting: ['a'], running: [running('a'), running('a')] },
      { kind: 'wait' },
    ],
    [
      'the next one begins, if the first one is above the limit of its namespace',
      { waiting: ['a', 'b'], running: [running('a'), running('a')] },
      { kind: 'begin', index: 1 },
    ],
    [
      'one of a namespace that was slow begins while those have less than half of the turns',
      { waiting: ['a~'], running: [running('b~', { wasSlow: true })] },
      { kind: 'begin', index: 0 },
    ],
    [
      'none of a namespace that was slow begins while those have half of the turns',
      { waiting: ['a~'], running: [running('b~', { wasSlow: true }), running('c~', { wasSlow: true })] },
      { kind: 'wait' },
    ],
    [
      'one of another namespace begins then, although it came later',
      { waiting: ['a~', 'd'], running: [running('b~', { wasSlow: true }), running('c~', { wasSlow: true })] },
      { kind: 'begin', index: 1 },
    ],
    [
      'one of a namespace that was slow has the turn of another slow one, after the share of that',
      {
        waiting: ['a~'],
        running: [running('b', slow), running('c~', { ...slow, wasSlow: true }), running('d~', { wasSlow: true })],
      },
      { kind: 'end', index: 1 },
    ],
  ])('%s', (_, changes, expected) => {
    expect(decide(changes)).toMatchObject(expected);
  });
});

describe('while all turns are held, a task', () => {
  const all = (one: Partial<Running>) => [running('b'), running('c', one), running('d'), running('e')];

  it.each<[string, Situation, object]>([
    ['goes on as long as its share lasts', { waiting: ['a'], running: all({ heldMs: 2 * minute }) }, { kind: 'wait' }],
    ['ends after it, if it moves nothing', { waiting: ['a'], running: all(slow) }, { kind: 'end', index: 1 }],
    [
      'ends after it, if it moves a byte now and then',
      { waiting: ['a'], running: all({ ...slow, bytes: 600 }) },
      { kind: 'end', index: 1 },
    ],
    [
      'goes on if it moves much',
      { waiting: ['a'], running: all({ ...slow, bytes: 8 * 60 * 4 * mebibyte }) },
      { kind: 'wait' },
    ],
    [
      'ends after it, if it moves less than that',
      { waiting: ['a'], running: all({ ...slow, bytes: 8 * 60 * 4 * mebibyte - 1 }) },
      { kind: 'end', index: 1 },
    ],
    [
      'that is furthest beyond its share ends',
      {
        waiting: ['a'],
        running: [running('b', slow), running('c', { heldMs: 11 * minute }), running('d'), running('e', slow)],
      },
      { kind: 'end', index: 1 },
    ],
    [
      'goes on, if only one of a namespace waits that holds as many',
      { waiting: ['b', 'c'], running: all(slow) },
      { kind: 'wait' },
    ],
    [
      'ends in favour of a namespace that holds fewer',
      { waiting: ['b'], running: [running('b'), running('c', slow), running('c', slow), running('d')] },
      { kind: 'end', index: 1 },
    ],
    ['goes on if nothing waits', { running: all(slow) }, { kind: 'wait' }],
    [
      'goes on while another one ends for the only namespace that waits',
      { waiting: ['a', 'a'], running: [running('b', { ...slow, isEnding: true }), ...all(slow).slice(1)] },
      { kind: 'wait' },
    ],
  ])('%s', (_, changes, expected) => {
    expect(decide(changes)).toMatchObject(expected);
  });

  it('that ends says after how long, with how many bytes, why, and what to check', () => {
    const decision = decide({ waiting: ['a'], running: all({ ...slow, bytes: 3 * mebibyte }) });
    expect(decision).toMatchObject({
      why: 'ended after 600 s, in which it moved 3 MiB, because control planes of other namespaces wait for their turn: check the store, etcd, and the network between them and the operator; the operator tries again',
    });
  });
});
