import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import { isDeepStrictEqual } from 'node:util';
import { findingControlPlane, followingControlPlane } from './access.ts';
import { clusterArgument, type Command, hasSwitch, type Session, UsageError } from './command.ts';
import { findObject } from './control-plane.ts';
import { changesOf } from './follow.ts';
import { outputOf, outputOption, printed } from './output.ts';
import { type Overview, overviewOf } from './overview.ts';
import { causesOf } from './status/causes.ts';
import { describeStatus } from './status/description.ts';
import { gather, readingEvidence } from './status/evidence.ts';

/** Shows what a control plane waits for, in its own words and in those of its pods, volumes and events, and what a person does next. */
export const status: Command = {
  name: 'status',
  examples: [
    ['status prod -n team-a', 'what it waits for, and what to do'],
    ['status team-a/prod --steps', 'every step, component and certificate, too'],
    ['status team-a/prod -w', 'again after each change'],
    ['status team-a/prod -o json', 'for a script'],
    ['status team-a/prod --svg', 'the picture of its bring-up'],
  ],
  usage: 'CLUSTER [--svg | [--steps] [--watch] [-o json|yaml]]',
  summary:
    'Shows what a control plane is, or what it waits for and why; exit code 1 when it should be available and is not.',
  options: {
    steps: { type: 'boolean', meaning: 'show every step, component and certificate, not only what does not work' },
    watch: { type: 'boolean', short: 'w', meaning: 'show it again after each change, until you interrupt it' },
    svg: { type: 'boolean', meaning: 'print the picture of its bring-up instead, as an SVG file' },
    output: outputOption(),
  },
  access: [findingControlPlane, followingControlPlane('--watch'), ...readingEvidence],
  prepare(given) {
    const name = clusterArgument(given);
    const shown = { output: outputOf(given), hasSteps: hasSwitch(given, 'steps') };
    if (hasSwitch(given, 'svg')) {
      const ignored = ['steps', 'watch', 'output'].filter((option) => given.values[option] !== undefined);
      if (ignored.length > 0)
        throw new UsageError(`--svg prints one picture, without --${ignored.join(' and --')}: leave one of them out`);
      return (session) => draw(session, name);
    }
    return (session) => (hasSwitch(given, 'watch') ? watch(session, name, shown) : showOnce(session, name, shown));
  },
};

async function draw(session: Session, name: string): Promise<void> {
  // its sequence is that of all phases, whose libraries the other views do not need
  const { waterfallFile } = await import('./report/waterfall.ts');
  session.terminal.print(waterfallFile(overviewOf(await findObject(session, name)), session.now()));
}

interface Shown {
  readonly output: string | undefined;
  readonly hasSteps: boolean;
}

async function showOnce(session: Session, name: string, shown: Shown): Promise<void> {
  const { available, state } = await show(session, await findObject(session, name), shown);
  if (!available && !askedFor.includes(state.kind)) throw new Error(`the API server of ${name} is not available`);
}

/** States in which a user has asked for no API server, or for no news of it. */
const askedFor: readonly Overview['state']['kind'][] = ['paused', 'hibernating', 'hibernated'];

async function watch(session: Session, name: string, shown: Shown): Promise<void> {
  const { metadata } = await findObject(session, name);
  let last: unknown;
  for await (const object of changesOf<HostedControlPlaneObject>(session, metadata.name)) {
    if (!object) throw new Error(`the control plane of ${name} was deleted`);
    // not what is printed, because ages change all the time
    if (isDeepStrictEqual(object.status, last)) continue;
    if (last !== undefined) session.terminal.print(shown.output === 'yaml' ? '---' : '');
    last = object.status;
    await show(session, object, shown);
  }
}

async function show(
  session: Session,
  object: HostedControlPlaneObject,
  { output, hasSteps }: Shown,
): Promise<Overview> {
  const { terminal } = session;
  const now = session.now();
  const { evidence, workers, unknown } = await gather(session, object);
  const report = { ...overviewOf(object), causes: causesOf(evidence, now), workers, unknown };
  for (const line of printed(output, report, () => describeStatus(report, { now, hasSteps }, terminal)))
    terminal.print(line);
  for (const what of output === undefined ? unknown : []) terminal.info(`not known: ${what}`);
  return report;
}
