import { expect, it } from 'vitest';
import { isHeld, nextStep, type Upgrade } from '../../../../reconciler/desired-state/upgrade/emulation.ts';
import { hostedCluster, now } from '../../../support/scope.ts';

const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();

/** An upgrade from v1.36.4 to v1.37.1 that may proceed. */
function upgrade({
  to = 'v1.37.1',
  hold,
  since,
  args,
  ...changes
}: Partial<Pick<Upgrade, 'rendered' | 'binaries' | 'mayProceed'>> & {
  to?: string;
  hold?: string;
  since?: string;
  args?: Record<string, string>;
}): Upgrade {
  const { spec } = hostedCluster({
    version: to,
    ...(hold === undefined ? {} : { upgrade: { hold } }),
    ...(args === undefined ? {} : { deployment: { scheduler: { args } } }),
  });
  const status = since === undefined ? undefined : { emulation: { binaries: 'v1.37.1', since } };
  return { spec, status, rendered: 'v1.36.4', binaries: undefined, mayProceed: true, now, ...changes };
}

const binaries = 'v1.37.1';

it.each<[what: string, Upgrade, version: string, binaries: string | undefined]>([
  ['begins with binaries that emulate', upgrade({}), 'v1.36.4', 'v1.37.1'],
  ['waits for what is before it', upgrade({ mayProceed: false }), 'v1.36.4', undefined],
  ['has no hold of 0s', upgrade({ hold: '0s' }), 'v1.37.1', undefined],
  ['has no hold before 1.35', upgrade({ to: 'v1.34.2', rendered: 'v1.33.6' }), 'v1.34.2', undefined],
  ['has one from 1.35 on', upgrade({ to: 'v1.35.8', rendered: 'v1.34.2' }), 'v1.34.2', 'v1.35.8'],
  ['has no hold where the user emulates', upgrade({ args: { 'emulated-version': '1.36' } }), 'v1.37.1', undefined],
  ['waits until all binaries run', upgrade({ binaries }), 'v1.36.4', 'v1.37.1'],
  ['holds for five minutes', upgrade({ binaries, since: minutesAgo(4.9) }), 'v1.36.4', 'v1.37.1'],
  ['ends after five minutes', upgrade({ binaries, since: minutesAgo(5) }), 'v1.37.1', undefined],
  ['holds as long as asked', upgrade({ binaries, since: minutesAgo(59), hold: '1h' }), 'v1.36.4', 'v1.37.1'],
  ['ends at once on request', upgrade({ binaries, since: minutesAgo(1), hold: '0s' }), 'v1.37.1', undefined],
  ['ends on request although no binaries start', upgrade({ binaries, hold: '0s' }), 'v1.37.1', undefined],
  ['stays where it is', upgrade({ binaries, since: minutesAgo(9), mayProceed: false }), 'v1.36.4', 'v1.37.1'],
  [
    'begins again with another patch release',
    upgrade({ binaries, since: minutesAgo(9), to: 'v1.37.2' }),
    'v1.36.4',
    'v1.37.2',
  ],
])('an upgrade %s', (_, given, version, emulating) => {
  expect(nextStep(given)).toEqual({ version, binaries: emulating });
});

it.each<[what: string, Upgrade, held: boolean]>([
  ['not before it begins', upgrade({}), false],
  ['while binaries start', upgrade({ binaries }), true],
  ['not while binaries of another patch release start', upgrade({ binaries, to: 'v1.37.2' }), false],
  ['until its end', upgrade({ binaries, since: minutesAgo(4.9) }), true],
  ['not from then on', upgrade({ binaries, since: minutesAgo(5) }), false],
  ['not for 0s, although no binaries start', upgrade({ binaries, hold: '0s' }), false],
  ['not once the user emulates', upgrade({ binaries, args: { 'emulated-version': '1.36' } }), false],
])('checks of an upgrade rest %s', (_, given, held) => {
  expect(isHeld(given)).toBe(held);
});
