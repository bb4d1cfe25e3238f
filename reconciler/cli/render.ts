import { readFileSync } from 'node:fs';
import { nameOf, renderUserFile } from '../../constructs/user-manifests.ts';
import { messageOf } from '../kube/error-message.ts';
import { type Command, type Given, hasSwitch, UsageError } from './command.ts';
import type { Terminal } from './terminal.ts';

/** Shows what a HostedControlPlane becomes, before it is applied anywhere. */
export const render: Command = {
  name: 'render',
  usage: 'FILE [--hosted]',
  summary: 'Prints the objects that a file with a Cluster and its HostedControlPlane becomes, without a cluster.',
  options: { hosted: { type: 'boolean', meaning: 'print those in the hosted cluster' } },
  prepare: (given) => {
    const run = rendering(given);
    return async ({ terminal }) => run(terminal);
  },
  offline: rendering,
};

function rendering(given: Given): (terminal: Terminal) => void {
  const { positionals } = given;
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) {
    throw new UsageError(
      `set one file with a Cluster and its HostedControlPlane, or - to read it, not ${positionals.length}`,
    );
  }
  return (terminal) => {
    const input = { name: file === '-' ? 'input' : nameOf(file), content: read(file) };
    terminal.print(renderUserFile(input, hasSwitch(given, 'hosted') ? 'hosted' : 'management').trimEnd());
  };
}

function read(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
