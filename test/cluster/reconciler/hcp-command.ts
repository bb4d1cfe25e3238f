import type { Command } from '../../../reconciler/cli/command.ts';
import { messageOf } from '../../../reconciler/kube/error-message.ts';
import { testSession } from '../../support/test-session.ts';
import type { Workbench } from '../../support/workbench.ts';

/** Runs a command of `hcp` with its rights in the namespace of a bench; returns what it prints, and what it fails with. */
export async function hcp(
  bench: Workbench,
  command: Command,
  argument = 'c1',
  values: Record<string, string> = {},
): Promise<string> {
  const { session, printed } = testSession({ client: await bench.hcp.client(command), namespace: bench.namespace });
  const failure: string[] = [];
  await command
    .prepare({ positionals: [argument], values: { wait: true, ...values } })(session)
    .catch((error: unknown) => failure.push(messageOf(error)));
  return [...printed, ...failure].join('\n');
}
