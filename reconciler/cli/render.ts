import { basename } from 'node:path';
import { renderFile } from '../../constructs/rendered-file.ts';
import { type Command, type ParsedArguments, hasSwitch, UsageError } from './command.ts';
import { readFile } from './read-file.ts';
import type { Terminal } from './terminal.ts';

/** Shows what a HostedControlPlane becomes, before it is applied anywhere. */
export const render: Command = {
  name: 'render',
  examples: [
    ['render cluster.yaml', 'the objects in the management cluster'],
    ['render cluster.yaml --hosted', 'those in the hosted cluster'],
    ['render - <cluster.yaml', 'of standard input'],
  ],
  usage: 'FILE [--hosted]',
  summary: 'Prints the objects that a file with a Cluster and its HostedControlPlane becomes, without a cluster.',
  options: { hosted: { type: 'boolean', meaning: 'print those in the hosted cluster' } },
  access: [],
  prepare: (given) => async (session) => rendering(given)(session.terminal),
  offline: rendering,
};

/** The only argument of a command for one file. @throws UsageError for any other number of arguments */
export function fileArgument({ positionals }: ParsedArguments): string {
  const [path, ...more] = positionals;
  if (path !== undefined && more.length === 0) return path;
  throw new UsageError(
    `set one file with a Cluster and its HostedControlPlane, or - for standard input, not ${positionals.length}`,
  );
}

function rendering(given: ParsedArguments): (terminal: Terminal) => void {
  const path = fileArgument(given);
  return (terminal) => {
    const file = path === '-' ? 'standard input' : basename(path);
    const place = hasSwitch(given, 'hosted') ? 'hosted' : 'management';
    terminal.print(renderFile({ file, content: readFile(path) }, place).trimEnd());
  };
}
