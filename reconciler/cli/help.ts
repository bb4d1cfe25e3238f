import { definitionName, Event } from '../../constructs/api/resources.ts';
import { type CommandAccess, places } from './access.ts';
import { commonOptions } from './command-line.ts';
import { type Command, type CommandOption, optionsOf, type Program } from './command.ts';
import { widthOf, wrapped } from './wrapped.ts';

/** Help is as wide as the narrowest terminal that people use, wherever it is printed. */
const width = 80;

/** Help of a program. */
export function helpOfAll({ name: program, summary: about, commands }: Program): string {
  const groups = Map.groupBy(commands, ({ group }) => group);
  const longest = Math.max(...commands.map(({ name }) => name.length));
  const lines = [...groups].flatMap(([title, entries]) => [
    `${title}:`,
    ...described(entries.map(({ name, short }) => [name.padEnd(longest), short])),
    '',
  ]);
  return [
    ...paragraph(`${about} CLUSTER is the name of a Cluster or of its HostedControlPlane, also as NAMESPACE/CLUSTER.`),
    '',
    ...lines,
    ...paragraph(
      `Every command takes -n NAMESPACE, --context NAME and --kubeconfig FILE. Examples, options and rights: ${program} help COMMAND. Exit codes: 0 success, 1 failure, 2 invalid command line.`,
    ),
  ].join('\n');
}

/** Help of one command. */
export function helpOf(program: Program, command: Command): string {
  const { name, examples, usage, summary, access } = command;
  const options = { ...optionsOf(command), ...commonOptions };
  return [
    'Examples:',
    ...examples.flatMap(([line, purpose]) => [...paragraph(purpose, '  # '), `  ${program.name} ${line}`]),
    '',
    ...wrapped(`${program.name} ${name} ${usage}`, width, { first: 'Usage: ' }),
    '',
    ...paragraph(summary),
    '',
    'Options:',
    ...described(
      Object.entries(options).map(([option, description]) => [flagsOf(option, description), description.meaning]),
    ),
    ...neededRights(access),
  ].join('\n');
}

/** Kubernetes has an older resource of this name without a group, which kubectl means by it. */
const ambiguous: readonly string[] = [Event.plural];

/** The rights of a command, each with the resource as `kubectl create role` takes it. */
function neededRights(access: readonly CommandAccess[]): string[] {
  const rows = access.map(({ resource, subresource, verbs, where = 'namespace', why }) => {
    const name = ambiguous.includes(resource.plural) ? definitionName(resource) : resource.plural;
    return { where, row: [`${name}${subresource === undefined ? '' : `/${subresource}`}`, verbs.join(', '), why] };
  });
  return Object.entries(places).flatMap(([place, words]) => {
    const own = rows.filter(({ where }) => where === place);
    if (own.length === 0) return [];
    // A kind that is read in several versions is one row.
    const unique = new Map(own.map(({ row }) => [row.join(' '), row]));
    return ['', `Rights that you need ${words}:`, ...described([...unique.values()])];
  });
}

function flagsOf(name: string, { short, value }: CommandOption): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}

function paragraph(text: string, start = ''): string[] {
  return wrapped(text, width, { first: start, further: start });
}

/** Rows as columns, of which the last one is prose. */
function described(rows: readonly (readonly string[])[]): string[] {
  const names = rows.map((row) => row.slice(0, -1));
  const widths = names.reduce<number[]>(
    (widest, row) => row.map((text, index) => Math.max(widest[index] ?? 0, widthOf(text))),
    [],
  );
  return rows.flatMap((row, index) => {
    const start = names[index]!.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ');
    return wrapped(row.at(-1) ?? '', width, { first: `  ${start}  ` });
  });
}
