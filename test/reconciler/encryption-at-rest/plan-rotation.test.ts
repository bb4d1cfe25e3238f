import { describe, expect, it } from 'vitest';
import {
  type InitialConfigurationInput,
  planInitialConfiguration,
} from '../../../reconciler/encryption-at-rest/first-keys.ts';
import {
  fresh,
  planRotation,
  type RotationInput,
  type RotationDecision,
} from '../../../reconciler/encryption-at-rest/plan-rotation.ts';

const settled: RotationInput = {
  providers: ['key-1'],
  retired: [],
  isLoaded: true,
  isRewritten: false,
  wanted: undefined,
  wantsNewKey: false,
  isRestoring: false,
};
const configure = (...providers: string[]): RotationDecision => ({ kind: 'configure', providers });

describe('the next step of a rotation', () => {
  it.each<[string, Partial<RotationInput>, RotationDecision]>([
    ['is none if one key stores everything', {}, { kind: 'settled' }],
    ['is none if everything is stored unencrypted as configured', { providers: ['identity'] }, { kind: 'settled' }],
    ['adds a new key for reading only', { wantsNewKey: true }, configure('key-1', fresh)],
    [
      'waits until every API server has loaded it',
      { providers: ['key-1', 'key-2'], isLoaded: false },
      { kind: 'prove', reason: 'DistributingKey' },
    ],
    ['then makes it the writing key', { providers: ['key-1', 'key-2'] }, configure('key-2', 'key-1')],
    [
      'waits until every API server writes with it',
      { providers: ['key-2', 'key-1'], isLoaded: false, isRewritten: true },
      { kind: 'prove', reason: 'DistributingKey' },
    ],
    ['then rewrites all Secrets', { providers: ['key-2', 'key-1'] }, { kind: 'rewrite' }],
    ['then retires the old key', { providers: ['key-2', 'key-1'], isRewritten: true }, configure('key-2')],
    [
      'waits until no API server has the old key any more',
      { providers: ['key-2'], isLoaded: false },
      { kind: 'prove', reason: 'RetiringKey' },
    ],
    [
      'adds a third key if that is requested in between',
      { providers: ['key-2', 'key-1'], wantsNewKey: true, isRewritten: true },
      configure('key-2', 'key-1', fresh),
    ],
    ['takes the newest of three', { providers: ['key-2', 'key-1', 'key-10'] }, configure('key-10', 'key-2', 'key-1')],
    ['adds a key if there was none', { providers: ['identity'], wanted: 'secretbox' }, configure('identity', fresh)],
    [
      'makes the first key the writing key once every API server can read it',
      { providers: ['identity', 'key-1'], wanted: 'secretbox' },
      configure('key-1', 'identity'),
    ],
    [
      'stops reading unencrypted Secrets once there are none',
      { providers: ['key-1', 'identity'], wanted: 'secretbox', isRewritten: true },
      configure('key-1'),
    ],
    ['reads unencrypted Secrets before any is written', { wanted: 'None' }, configure('key-1', 'identity')],
    [
      'writes unencrypted Secrets once every API server can read them',
      { providers: ['key-1', 'identity'], wanted: 'None' },
      configure('identity', 'key-1'),
    ],
    [
      'keeps the key while any Secret needs it',
      { providers: ['identity', 'key-1'], wanted: 'None' },
      { kind: 'rewrite' },
    ],
    [
      'retires the last key',
      { providers: ['identity', 'key-1'], wanted: 'None', isRewritten: true },
      configure('identity'),
    ],
    [
      'adds no key if Secrets are to be stored unencrypted',
      { wanted: 'None', wantsNewKey: true },
      configure('key-1', 'identity'),
    ],
    [
      'returns to the key if the user reverts the change',
      { providers: ['identity', 'key-1'], wanted: 'secretbox' },
      configure('key-1', 'identity'),
    ],
    [
      'makes everything readable that a backup may contain',
      { isRestoring: true, retired: ['key-0'], wantsNewKey: true },
      configure('key-1', 'key-0', 'identity'),
    ],
    [
      'waits for the end of the restore',
      { isRestoring: true, providers: ['key-1', 'key-0', 'identity'], retired: ['key-0'], isRewritten: true },
      { kind: 'hold' },
    ],
    [
      'rewrites what a restore has added',
      { providers: ['key-1', 'key-0', 'identity'], retired: ['key-0'] },
      { kind: 'rewrite' },
    ],
    [
      'never writes with a key that a restore has added, however new it is',
      { providers: ['key-1', 'key-9', 'identity'], retired: ['key-9'] },
      { kind: 'rewrite' },
    ],
    [
      'adds a new key instead of writing with one that a restore has added',
      { providers: ['identity', 'key-9'], retired: ['key-9'], wanted: 'secretbox' },
      configure('identity', 'key-9', fresh),
    ],
  ])('%s', (_, state, step) => {
    expect(planRotation({ ...settled, ...state })).toEqual(step);
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
    'writes with no key that an API server cannot read, and removes no key before all Secrets are rewritten: $providers $wanted $wantsNewKey $isRestoring',
    (state) => {
      const steps = [false, true].flatMap((isLoaded) =>
        [false, true].map((isRewritten) => ({ state: { ...state, isLoaded, isRewritten } })),
      );
      const unsafe = steps.filter(({ state: before }) => !isSafe(before, planRotation(before)));
      expect(unsafe).toEqual([]);
    },
  );

  const ends = states.flatMap((state) => [[], ['key-2']].map((retired) => ({ ...state, retired })));
  it.each(ends)('ends: $providers $retired $wanted $wantsNewKey', (start) => {
    let state: RotationInput = { ...start, isRestoring: false };
    for (let steps = 0; steps < 20; steps++) {
      const step = planRotation(state);
      if (step.kind === 'settled') break;
      if (step.kind === 'prove') state = { ...state, isLoaded: true };
      if (step.kind === 'rewrite') state = { ...state, isRewritten: true };
      if (step.kind === 'configure') {
        const made = step.providers.includes(fresh);
        const providers = step.providers.map((name) => (name === fresh ? 'key-9' : name));
        state = { ...state, providers, isLoaded: false, isRewritten: false, wantsNewKey: state.wantsNewKey && !made };
      }
    }
    expect(planRotation(state)).toEqual({ kind: 'settled' });
    expect(state.providers).toHaveLength(1);
    expect(start.retired).not.toContain(state.providers[0]);
  });
});

function isSafe({ providers, isLoaded, isRewritten }: RotationInput, step: RotationDecision): boolean {
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
  const none: InitialConfigurationInput = {
    wanted: undefined,
    hasStarted: false,
    isConfigured: false,
    reported: undefined,
    isUsersOwn: false,
    holdsEarlierData: false,
  };
  it.each<[string, Partial<InitialConfigurationInput>, ReturnType<typeof planInitialConfiguration>]>([
    ['that is new gets one', {}, configureFirst(fresh)],
    ['that is already running stays unencrypted', { hasStarted: true, reported: 'None' }, { kind: 'clear' }],
    [
      'that is already running gets one for reading only if the spec requests it',
      { hasStarted: true, wanted: 'secretbox', reported: 'None' },
      configureFirst('identity', fresh),
    ],
    ['that is to have none gets none', { wanted: 'None' }, { kind: 'clear' }],
    ['is left to the user if the user manages encryption', { isUsersOwn: true }, { kind: 'users' }],
    [
      'has lost its keys if it had some',
      { hasStarted: true, isConfigured: true, reported: 'secretbox' },
      { kind: 'lost' },
    ],
    [
      'has lost its keys also if the status reports none any more',
      { hasStarted: true, isConfigured: true },
      { kind: 'lost' },
    ],
    ['has lost its keys also if its API servers are gone', { reported: 'secretbox' }, { kind: 'lost' }],
    ['has lost them if its volumes are those of an earlier object', { holdsEarlierData: true }, { kind: 'lost' }],
    [
      'has lost none on such volumes if the spec says that Secrets are unencrypted',
      { holdsEarlierData: true, wanted: 'None' },
      { kind: 'clear' },
    ],
    [
      'has lost none if it stored Secrets unencrypted',
      { hasStarted: true, isConfigured: true, reported: 'None' },
      configureFirst('identity'),
    ],
  ])('%s', (_, state, initialConfiguration) => {
    expect(planInitialConfiguration({ ...none, ...state })).toEqual(initialConfiguration);
  });
});

function configureFirst(...providers: string[]): ReturnType<typeof planInitialConfiguration> {
  return { kind: 'configure', providers };
}
