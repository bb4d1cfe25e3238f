import { columns } from './columns.ts';
import { commonOptions } from './command-line.ts';
import type { Command, CommandOption } from './command.ts';

/** Help of all commands. */
export function helpOfAll(commands: readonly Command[]): string {
  return [
    'Manages hosted control planes. CLUSTER is the name of a Cluster or of its HostedControlPlane.',
    ...columns(commands.map(({ name, summary }) => [`  hcp ${name}`, summary])),
    'Every command takes -n NAMESPACE, --context NAME and --kubeconfig FILE: hcp help COMMAND. Exit codes: 0 success, 1 failure, 2 invalid command line.',
  ].join('\n');
}

/** Help of one command. */
export function helpOf({ name, usage, summary, options }: Command): string {
  return [`hcp ${name} ${usage}`, '', summary, '', ...explained({ ...options, ...commonOptions })].join('\n');
}

function explained(options: Readonly<Record<string, CommandOption>>): string[] {
  return columns(
    Object.entries(options).map(([name, { short, value, meaning }]) => [
      `  ${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
      meaning,
    ]),
  );
}
