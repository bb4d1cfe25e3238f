import { nearestName } from '../../constructs/api/nearest-name.ts';
import { messageOf } from '../kube/error-message.ts';
import { parseArgs } from 'node:util';
import {
  type Command,
  type CommandOption,
  type ParsedArguments,
  type Program,
  type Session,
  UsageError,
} from './command.ts';
import type { Terminal } from './terminal.ts';

/** Management cluster and namespace of a command, set by options with the same names as in kubectl. */
export interface Target {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
}

/** The parsed command line. */
export type CommandLine =
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'offline'; readonly run: (terminal: Terminal) => void }
  | {
      readonly kind: 'run';
      readonly target: Target;
      readonly run: (session: Session) => Promise<void>;
      readonly failureCode: number;
    };

/** Options of every command. */
export const commonOptions = {
  namespace: {
    type: 'string',
    short: 'n',
    value: 'NAME',
    meaning: 'namespace of the Cluster; by default the namespace of the context',
  },
  context: { type: 'string', value: 'NAME', meaning: 'context of the kubeconfig; the current one when unset' },
  kubeconfig: { type: 'string', value: 'FILE', meaning: 'kubeconfig; $KUBECONFIG or ~/.kube/config when unset' },
  help: { type: 'boolean', short: 'h', meaning: 'explain a command' },
} as const satisfies Readonly<Record<string, CommandOption>>;

/**
 * Parses the arguments of a program, with Node's parser: written with commander 14 this file has 97 lines instead of 95, help and completion
 * stay as long, and an unknown command is refused without the list of commands.
 * @throws UsageError
 */
export function parseCommandLine(args: readonly string[], { commands }: Pick<Program, 'commands'>): CommandLine {
  const [name, ...rest] = args;
  if (name === undefined || name === '-h' || name === '--help') return { kind: 'help', command: undefined };
  if (name === '--version') return { kind: 'version' };
  if (name === 'help') {
    const [about] = rest;
    return { kind: 'help', command: about === undefined ? undefined : commandNamed(about, commands) };
  }
  const command = commandNamed(name, commands);
  const given = parseOptions(rest, { ...command.options, ...commonOptions });
  if (given.values['help'] === true) return { kind: 'help', command };
  const offline = command.offline?.(given);
  if (offline) return { kind: 'offline', run: offline };
  const text = (option: keyof typeof commonOptions) => {
    const value = given.values[option];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    kind: 'run',
    target: { kubeconfig: text('kubeconfig'), context: text('context'), namespace: text('namespace') },
    run: command.prepare(given),
    failureCode: command.failureCode ?? 1,
  };
}

function commandNamed(name: string, commands: readonly Command[]): Command {
  const found = commands.find((command) => command.name === name);
  if (found) return found;
  const known = commands.map((command) => command.name);
  const nearest = nearestName(name, known);
  const meant = nearest === undefined ? `use one of ${known.join(', ')}` : `did you mean "${nearest}"?`;
  throw new UsageError(`unknown command "${name}": ${meant}`);
}

function parseOptions(args: readonly string[], described: Readonly<Record<string, CommandOption>>): ParsedArguments {
  const options = Object.fromEntries(
    Object.entries(described).map(([name, { type, short }]) => [
      name,
      short === undefined ? { type } : { type, short },
    ]),
  );
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true }) as ParsedArguments;
  } catch (error) {
    // Node's advice for arguments that start with a dash applies to no argument of a command.
    const [sentence = ''] = messageOf(error).split(/\. |\n/);
    throw new UsageError(`${sentence.replace(/\.$/, '')}${meantOption(sentence, described)}`, { cause: error });
  }
}

/** What a message about an unknown option adds, when one is near. */
function meantOption(sentence: string, described: Readonly<Record<string, CommandOption>>): string {
  const unknown = /^Unknown option '--(.+)'/.exec(sentence)?.[1];
  const nearest = unknown === undefined ? undefined : nearestName(unknown, Object.keys(described));
  return nearest === undefined ? '' : `: did you mean --${nearest}?`;
}
