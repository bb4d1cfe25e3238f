import { definitionName, Event } from '../../constructs/api/resources.ts';
import { type CommandAccess, places } from './access.ts';
import { columns } from './columns.ts';
import { commonOptions } from './command-line.ts';
import type { Command, CommandOption, Program } from './command.ts';

/** Help of a program. */
export function helpOfAll({ name: program, summary: about, commands }: Program): string {
  return [
    `${about} CLUSTER is the name of a Cluster or of its HostedControlPlane.`,
    ...columns(commands.map(({ name, summary }) => [`  ${program} ${name}`, summary])),
    `Every command takes -n NAMESPACE, --context NAME and --kubeconfig FILE: ${program} help COMMAND. Exit codes: 0 success, 1 failure, 2 invalid command line.`,
  ].join('\n');
}

/** Help of one command. */
export function helpOf(program: Program, { name, usage, summary, options, access }: Command): string {
  const lines = [`${program.name} ${name} ${usage}`, '', summary, '', ...explained({ ...options, ...commonOptions })];
  return [...lines, ...neededRights(access)].join('\n');
}

/** Kubernetes has an older resource of this name without a group, which kubectl means by it. */
const ambiguous: readonly string[] = [Event.plural];

/** The rights of a command, each with the resource as `kubectl create role` takes it. */
function neededRights(access: readonly CommandAccess[]): string[] {
  const rows = access.map(({ resource, subresource, verbs, where = 'namespace', why }) => {
    const name = ambiguous.includes(resource.plural) ? definitionName(resource) : resource.plural;
    return { where, row: [`  ${name}${subresource === undefined ? '' : `/${subresource}`}`, verbs.join(', '), why] };
  });
  return Object.entries(places).flatMap(([place, words]) => {
    const own = rows.filter(({ where }) => where === place);
    if (own.length === 0) return [];
    // A kind that is read in several versions is one row.
    const unique = new Map(own.map(({ row }) => [row.join(' '), row]));
    return ['', `Rights that you need ${words}:`, ...columns([...unique.values()])];
  });
}

function explained(options: Readonly<Record<string, CommandOption>>): string[] {
  return columns(
    Object.entries(options).map(([name, { short, value, meaning }]) => [
      `  ${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
      meaning,
    ]),
  );
}
