import { describe, expect, it } from 'vitest';
import { type InitialConfigurationState, begin } from '../../../reconciler/encryption-at-rest/initial-configuration.ts';
import {
  fresh,
  planStep,
  type RotationState,
  type RotationStep,
} from '../../../reconciler/encryption-at-rest/rotation.ts';

const settled: RotationState = {
  providers: ['key-1'],
  retired: [],
  isLoaded: true,
  isRewritten: false,
  wanted: undefined,
  wantsNewKey: false,
  isRestoring: false,
};
const configure = (...providers: string[]): RotationStep => ({ kind: 'configure', providers });

describe('the next step of a rotation', () => {
  it.each<[string, Partial<RotationState>, RotationStep]>([
    ['is none where one key stores everything', {}, { kind: 'settled' }],
    ['is none where everything is in clear and is to stay so', { providers: ['identity'] }, { kind: 'settled' }],
    ['makes a new key that only reads', { wantsNewKey: true }, configure('key-1', fresh)],
    [
      'waits until all have loaded it',
      { providers: ['key-1', 'key-2'], isLoaded: false },
      { kind: 'prove', reason: 'DistributingKey' },
    ],
    ['lets it write then', { providers: ['key-1', 'key-2'] }, configure('key-2', 'key-1')],
    [
      'waits until it writes everywhere',
      { providers: ['key-2', 'key-1'], isLoaded: false, isRewritten: true },
      { kind: 'prove', reason: 'DistributingKey' },
    ],
    ['stores everything anew then', { providers: ['key-2', 'key-1'] }, { kind: 'rewrite' }],
    ['retires the old key then', { providers: ['key-2', 'key-1'], isRewritten: true }, configure('key-2')],
    [
      'waits until nobody has it any more',
      { providers: ['key-2'], isLoaded: false },
      { kind: 'prove', reason: 'RetiringKey' },
    ],
    [
      'makes a third key when that is asked for in between',
      { providers: ['key-2', 'key-1'], wantsNewKey: true, isRewritten: true },
      configure('key-2', 'key-1', fresh),
    ],
    ['takes the newest of three', { providers: ['key-2', 'key-1', 'key-10'] }, configure('key-10', 'key-2', 'key-1')],
    [
      'makes a key where there was none',
      { providers: ['identity'], wanted: 'secretbox' },
      configure('identity', fresh),
    ],
    [
      'lets the first key write when all can read it',
      { providers: ['identity', 'key-1'], wanted: 'secretbox' },
      configure('key-1', 'identity'),
    ],
    [
      'stops reading in clear when nothing is',
      { providers: ['key-1', 'identity'], wanted: 'secretbox', isRewritten: true },
      configure('key-1'),
    ],
    ['reads in clear before anything is written so', { wanted: 'None' }, configure('key-1', 'identity')],
    [
      'writes in clear when all can read it',
      { providers: ['key-1', 'identity'], wanted: 'None' },
      configure('identity', 'key-1'),
    ],
    ['keeps the key until nothing needs it', { providers: ['identity', 'key-1'], wanted: 'None' }, { kind: 'rewrite' }],
    [
      'retires the last key',
      { providers: ['identity', 'key-1'], wanted: 'None', isRewritten: true },
      configure('identity'),
    ],
    ['makes no key to store in clear', { wanted: 'None', wantsNewKey: true }, configure('key-1', 'identity')],
    [
      'goes back to the key when the user thinks better of it',
      { providers: ['identity', 'key-1'], wanted: 'secretbox' },
      configure('key-1', 'identity'),
    ],
    [
      'lets everything be read that a backup may hold',
      { isRestoring: true, retired: ['key-0'], wantsNewKey: true },
      configure('key-1', 'key-0', 'identity'),
    ],
    [
      'waits for the end of the restore',
      { isRestoring: true, providers: ['key-1', 'key-0', 'identity'], retired: ['key-0'], isRewritten: true },
      { kind: 'hold' },
    ],
    [
      'stores anew what a restore has brought',
      { providers: ['key-1', 'key-0', 'identity'], retired: ['key-0'] },
      { kind: 'rewrite' },
    ],
    [
      'lets no key write that a restore has brought, however new it is',
      { providers: ['key-1', 'key-9', 'identity'], retired: ['key-9'] },
      { kind: 'rewrite' },
    ],
    [
      'makes a new key rather than to write with one that a restore has brought',
      { providers: ['identity', 'key-9'], retired: ['key-9'], wanted: 'secretbox' },
      configure('identity', 'key-9', fresh),
    ],
  ])('%s', (_, state, step) => {
    expect(planStep({ ...settled, ...state })).toEqual(step);
  });

  const names = ['identity', 'key-1', 'key-2'];
  const lists = names.flatMap((a) => [
    [a],
    ...names
      .filter((b) => b !== a)
      .flatMap((b) => [
        [a, b],
        [a, b, ...names.filter((c) => c !== a && c !== b)],
      ]),
  ]);
  const states = lists.flatMap((providers) =>
    ([undefined, 'secretbox', 'None'] as const).flatMap((wanted) =>
      [false, true].flatMap((wantsNewKey) =>
        [false, true].map((isRestoring) => ({ ...settled, providers, wanted, wantsNewKey, isRestoring })),
      ),
    ),
  );

  it.each(states)(
    'lets nothing write that is not read everywhere, and takes nothing away that was not stored anew: $providers $wanted $wantsNewKey $isRestoring',
    (state) => {
      const steps = [false, true].flatMap((isLoaded) =>
        [false, true].map((isRewritten) => ({ state: { ...state, isLoaded, isRewritten } })),
      );
      const unsafe = steps.filter(({ state: before }) => !isSafe(before, planStep(before)));
      expect(unsafe).toEqual([]);
    },
  );

  const ends = states.flatMap((state) => [[], ['key-2']].map((retired) => ({ ...state, retired })));
  it.each(ends)('comes to an end: $providers $retired $wanted $wantsNewKey', (start) => {
    let state: RotationState = { ...start, isRestoring: false };
    for (let steps = 0; steps < 20; steps++) {
      const step = planStep(state);
      if (step.kind === 'settled') break;
      if (step.kind === 'prove') state = { ...state, isLoaded: true };
      if (step.kind === 'rewrite') state = { ...state, isRewritten: true };
      if (step.kind === 'configure') {
        const made = step.providers.includes(fresh);
        const providers = step.providers.map((name) => (name === fresh ? 'key-9' : name));
        state = { ...state, providers, isLoaded: false, isRewritten: false, wantsNewKey: state.wantsNewKey && !made };
      }
    }
    expect(planStep(state)).toEqual({ kind: 'settled' });
    expect(state.providers).toHaveLength(1);
    expect(start.retired).not.toContain(state.providers[0]);
  });
});

function isSafe({ providers, isLoaded, isRewritten }: RotationState, step: RotationStep): boolean {
  if (step.kind !== 'configure') return true;
  const [writer = ''] = step.providers;
  const changesWriter = writer !== providers[0];
  const takesAway = providers.some((name) => !step.providers.includes(name));
  return (
    (!changesWriter || (isLoaded && providers.includes(writer))) &&
    (!takesAway || (isLoaded && isRewritten && !changesWriter))
  );
}

describe('a control plane without keys', () => {
  const none: InitialConfigurationState = {
    wanted: undefined,
    hasStarted: false,
    isConfigured: false,
    reported: undefined,
    isUsersOwn: false,
  };
  it.each<[string, Partial<InitialConfigurationState>, ReturnType<typeof begin>]>([
    ['that is new gets one', {}, configureFirst(fresh)],
    ['that runs already stays as it is', { hasStarted: true, reported: 'None' }, { kind: 'clear' }],
    [
      'that runs already gets one that only reads when that is wanted',
      { hasStarted: true, wanted: 'secretbox', reported: 'None' },
      configureFirst('identity', fresh),
    ],
    ['that shall have none gets none', { wanted: 'None' }, { kind: 'clear' }],
    ['is the business of a user who sees to it', { isUsersOwn: true }, { kind: 'users' }],
    [
      'has lost them when it had some',
      { hasStarted: true, isConfigured: true, reported: 'secretbox' },
      { kind: 'lost' },
    ],
    [
      'has lost them also when nothing is reported any more',
      { hasStarted: true, isConfigured: true },
      { kind: 'lost' },
    ],
    ['has lost them also when its API servers are gone', { reported: 'secretbox' }, { kind: 'lost' }],
    [
      'has lost nothing that stored in clear',
      { hasStarted: true, isConfigured: true, reported: 'None' },
      configureFirst('identity'),
    ],
  ])('%s', (_, state, initialConfiguration) => {
    expect(begin({ ...none, ...state })).toEqual(initialConfiguration);
  });
});

function configureFirst(...providers: string[]): ReturnType<typeof begin> {
  return { kind: 'configure', providers };
}
