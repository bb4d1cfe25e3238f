import { describe, expect, it } from 'vitest';
import { releaseOf } from '../../../../constructs/cluster/release-revisions.ts';
import type { RevisionFacts } from '../../../../constructs/cluster/facts.ts';
import { parseHostedControlPlane } from '../../../../constructs/api/parse-manifest.ts';
import { chooseRelease, type ReleaseChoice } from '../../../../reconciler/desired-state/revision/choose-release.ts';
import { specText } from '../../../../reconciler/desired-state/revision/revisions.ts';
import type { AdoptionTurn } from '../../../../reconciler/desired-state/revision/adoption-waves.ts';
import { hostedControlPlaneObject, spec } from '../../../support/scope.ts';

const newest = 3;
const now = new Date('2026-11-21T12:00:00Z');
const adopt = (revision: string) => ({ 'controlplane.cluster.x-k8s.io/adopt-revision': revision });
const window = (start: string, timeZone?: string) => ({
  maintenance: { window: { start, duration: '2h' }, ...(timeZone ? { timeZone } : {}) },
});

interface Case {
  readonly spec?: object;
  readonly annotations?: Record<string, string>;
  /** Changes of the spec that the newest revision has recorded. */
  readonly recordedSpec?: object;
  readonly outcome?: Pick<RevisionFacts, 'failure' | 'hasServed'>;
  /** Release revisions of the newest revision, and of the one that has served. */
  readonly recorded?: number | undefined;
  readonly served?: number;
  readonly turn?: AdoptionTurn;
}

function hosted(changes: object, annotations = {}) {
  const parsed = parseHostedControlPlane(
    hostedControlPlaneObject({ spec: { ...spec, ...changes }, metadata: { annotations } }),
  );
  if (!parsed.valid) throw new Error(parsed.message);
  return parsed.hostedControlPlane;
}

function choice(given: Case): ReleaseChoice {
  const record = (revision: number | undefined, changes: object, more: object = {}): RevisionFacts | undefined =>
    revision === undefined
      ? undefined
      : { number: 1, generation: 1, spec: specText(hosted(changes)), release: releaseOf(36, revision), ...more };
  const { turn = { kind: 'none' }, recordedSpec = given.spec ?? {} } = given;
  return chooseRelease({
    hostedControlPlane: hosted(given.spec ?? {}, given.annotations),
    recorded: {
      newest: record('recorded' in given ? given.recorded : 2, recordedSpec, given.outcome),
      served: record(given.served, {}),
    },
    now,
    newest,
    turn: () => turn,
  });
}

it.each<[string, Case, number]>([
  ['a new control plane gets the newest', { recorded: undefined }, 3],
  ['a newer operator changes nothing', {}, 2],
  ['another spec changes nothing', { spec: { replicas: 5 }, recordedSpec: {} }, 2],
  ['another patch version adopts the newest', { spec: { version: 'v1.36.4' }, recordedSpec: {} }, 3],
  ['another minor version adopts the newest', { spec: { version: 'v1.37.1' }, recordedSpec: {} }, 3],
  ['the annotation adopts the newest', { annotations: adopt('3') }, 3],
  ['the annotation adopts one in between', { recorded: 1, annotations: adopt('2') }, 2],
  ['the annotation never goes back', { annotations: adopt('1') }, 2],
  ['an annotation that has been followed stays without effect', { recorded: 3, annotations: adopt('2') }, 3],
  ['a revision that no operator has yet is none', { annotations: adopt('4') }, 2],
  ['an operator of before renders by the newest that it has', { recorded: 4 }, 3],
  ['text is no revision', { annotations: adopt('newest') }, 2],
  ['an open window adopts the newest', { spec: window('0 11 * * *') }, 3],
  ['a window that closes this moment is closed', { spec: window('0 10 * * *') }, 2],
  ['a window that opens this moment is open', { spec: window('0 12 * * *') }, 3],
  ['a window has its time zone', { spec: window('30 12 * * *', 'Europe/Berlin') }, 3],
  ['another day is no window', { spec: window('0 11 * * 1') }, 2],
  ['one that is no longer kept is replaced in its turn', { turn: { kind: 'now' } }, 3],
  ['a failed one is not tried again for the same spec', { recorded: 3, served: 2, outcome: { failure: 'x' } }, 3],
  ['one after a failed one waits as for the one that served', { recorded: 2, served: 1, outcome: { failure: 'x' } }, 1],
  [
    'one after a failed one is adopted in its turn',
    { recorded: 2, served: 1, outcome: { failure: 'x' }, turn: { kind: 'now' } },
    3,
  ],
  [
    'a newer one does not try a spec again that has failed',
    {
      recorded: 2,
      served: 2,
      outcome: { failure: 'x' },
      spec: { version: 'v1.36.4' },
      recordedSpec: { version: 'v1.36.4' },
    },
    2,
  ],
  [
    'a changed spec after a failed one keeps what has served',
    { recorded: 3, served: 2, outcome: { failure: 'x' }, spec: { replicas: 5 }, recordedSpec: {} },
    2,
  ],
  [
    'a version that goes back after a failed upgrade keeps what has served',
    { recorded: 3, served: 1, outcome: { failure: 'x' }, recordedSpec: { version: 'v1.37.1' }, spec: {} },
    1,
  ],
])('%s', (_, given, expected) => {
  expect(choice(given).release.revision).toBe(expected);
});

it('has the images of the minor that it renders', () => {
  const upgraded = choice({ spec: { version: 'v1.37.1' }, recordedSpec: {} });
  expect(upgraded.release).toEqual(releaseOf(37, 3));
});

it('keeps the recorded images, also when this operator has others', () => {
  const images = { etcd: '3.6.1', konnectivity: '0.35.0', coredns: '1.14.0' };
  const release = { revision: 2, minor: 36, images };
  const recorded = { newest: { number: 1, generation: 1, spec: specText(hosted({})), release }, served: undefined };
  const kept = chooseRelease({ hostedControlPlane: hosted({}), recorded, now, newest, turn: () => ({ kind: 'none' }) });
  expect(kept.release.images).toBe(images);
});

describe('says when the newest is adopted', () => {
  it.each<[string, Case, string, string | undefined]>([
    ['not when it has it', { recorded: 3 }, 'nothing', undefined],
    [
      'with a version, or on request',
      {},
      'revision 2, and the newest one is 3: it adopts that with the next change of its version or with the annotation controlplane.cluster.x-k8s.io/adopt-revision: "3"',
      undefined,
    ],
    ['with what is wrong in the annotation', { annotations: adopt('x') }, 'which is "x" now', undefined],
    [
      'when the window opens, for which it looks again',
      { spec: window('0 3 * * 6') },
      'when its maintenance window opens, at 2026-11-28T03:00:00.000Z',
      '2026-11-28T03:00:00.000Z',
    ],
    ['without a window that never opens', { spec: window('0 3 30 2 *') }, 'with the next change', undefined],
    ['after others', { turn: { kind: 'later', message: 'it waits for team/c2' } }, 'it waits for team/c2', undefined],
  ])('%s', (_, given, pending, again) => {
    const chosen = choice(given);
    expect(chosen.pending ?? 'nothing').toContain(pending);
    expect(chosen.again?.toISOString()).toBe(again);
  });
});
