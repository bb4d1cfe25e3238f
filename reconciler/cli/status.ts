import { isDeepStrictEqual } from 'node:util';
import { findingControlPlane, followingControlPlane } from './access.ts';
import { clusterArgument, type Command, hasSwitch, type Session } from './command.ts';
import { findObject } from './control-plane.ts';
import { conditionOf, type StoredControlPlane } from './control-plane-state.ts';
import { changesOf } from './follow.ts';
import { describeStatus } from './status/description.ts';

/** Shows what a control plane waits for, in its own words, and what a person does next. */
export const status: Command = {
  name: 'status',
  usage: 'CLUSTER [--watch]',
  summary: 'Shows the steps of a control plane and the one that blocks it; exit code 1 when it is not available.',
  options: {
    watch: { type: 'boolean', short: 'w', meaning: 'show it again after each change, until you interrupt it' },
  },
  access: [findingControlPlane, followingControlPlane('--watch')],
  prepare(given) {
    const name = clusterArgument(given);
    return (session) => (hasSwitch(given, 'watch') ? watch(session, name) : showOnce(session, name));
  },
};

async function showOnce(session: Session, name: string): Promise<void> {
  const object: StoredControlPlane = await findObject(session, name);
  show(session, object);
  if (conditionOf(object, 'Available')?.status !== 'True')
    throw new Error(`the API server of ${name} is not available`);
}

async function watch(session: Session, name: string): Promise<void> {
  const { metadata } = await findObject(session, name);
  let shown: unknown;
  for await (const object of changesOf<StoredControlPlane>(session, metadata.name)) {
    if (!object) throw new Error(`the control plane of ${name} was deleted`);
    // not what is printed, because ages change all the time
    if (isDeepStrictEqual(object.status, shown)) continue;
    if (shown !== undefined) session.terminal.print('');
    shown = object.status;
    show(session, object);
  }
}

function show({ terminal, now }: Session, object: StoredControlPlane): void {
  for (const line of describeStatus(object, now(), terminal)) terminal.print(line);
}
