import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import { isDeepStrictEqual } from 'node:util';
import { findingControlPlane, followingControlPlane } from './access.ts';
import { clusterArgument, type Command, hasSwitch, type Session } from './command.ts';
import { findObject } from './control-plane.ts';
import { changesOf } from './follow.ts';
import { outputOf, outputOption, printed } from './output.ts';
import { type Overview, overviewOf } from './overview.ts';
import { waterfallFile } from './report/waterfall.ts';
import { causesOf } from './status/causes.ts';
import { describeStatus, type StatusReport } from './status/description.ts';
import { gather, readingEvidence } from './status/evidence.ts';
import { workersOf } from './status/workers.ts';

/** Shows what a control plane waits for, in its own words and in those of its pods, volumes and events, and what a person does next. */
export const status: Command = {
  name: 'status',
  usage: 'CLUSTER [--watch] [--svg] [-o json|yaml]',
  summary:
    'Shows what a control plane waits for and why, its steps and certificates; exit code 1 when it is not available.',
  options: {
    watch: { type: 'boolean', short: 'w', meaning: 'show it again after each change, until you interrupt it' },
    svg: { type: 'boolean', meaning: 'print the picture of its bring-up instead, as an SVG file' },
    output: outputOption(),
  },
  access: [findingControlPlane, followingControlPlane('--watch'), ...readingEvidence],
  prepare(given) {
    const name = clusterArgument(given);
    const output = outputOf(given);
    if (hasSwitch(given, 'svg')) return (session) => draw(session, name);
    return (session) => (hasSwitch(given, 'watch') ? watch(session, name, output) : showOnce(session, name, output));
  },
};

async function draw(session: Session, name: string): Promise<void> {
  session.terminal.print(waterfallFile(overviewOf(await findObject(session, name)), session.now()));
}

async function showOnce(session: Session, name: string, output: string | undefined): Promise<void> {
  const { available } = await show(session, await findObject(session, name), output);
  if (!available) throw new Error(`the API server of ${name} is not available`);
}

async function watch(session: Session, name: string, output: string | undefined): Promise<void> {
  const { metadata } = await findObject(session, name);
  let shown: unknown;
  for await (const object of changesOf<HostedControlPlaneObject>(session, metadata.name)) {
    if (!object) throw new Error(`the control plane of ${name} was deleted`);
    // not what is printed, because ages change all the time
    if (isDeepStrictEqual(object.status, shown)) continue;
    if (shown !== undefined) session.terminal.print(output === 'yaml' ? '---' : '');
    shown = object.status;
    await show(session, object, output);
  }
}

async function show(session: Session, object: HostedControlPlaneObject, output: string | undefined): Promise<Overview> {
  const { terminal } = session;
  const now = session.now();
  const { evidence, machines, unknown } = await gather(session, object);
  const overview = overviewOf(object);
  const causes = causesOf(evidence, now);
  const workers = machines === undefined ? null : workersOf(machines);
  const report: StatusReport = { ...overview, causes, workers, unknown };
  for (const line of printed(output, report, () => describeStatus(overview, causes, now, terminal)))
    terminal.print(line);
  for (const what of output === undefined ? unknown : []) terminal.info(`not known: ${what}`);
  return overview;
}
