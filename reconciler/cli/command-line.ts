import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { nearestName } from '../../constructs/api/nearest-name.ts';
import { messageOf } from '../kube/error-message.ts';
import {
  type Command,
  type CommandOption,
  hasSwitch,
  optionsOf,
  type ParsedArguments,
  type Program,
  type Session,
  textOption,
  UsageError,
} from './command.ts';
import type { Terminal } from './terminal.ts';

/** Management cluster and namespace of a command, set by options with the same names as in kubectl. */
export interface Target {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  /** Time limit of `--wait` in milliseconds. */
  readonly timeoutMs: number | undefined;
}

/** The parsed command line. */
export type CommandLine =
  | { readonly kind: 'version' }
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'offline'; readonly run: (terminal: Terminal) => void | Promise<void> }
  | {
      readonly kind: 'run';
      readonly target: Target;
      readonly run: (session: Session) => Promise<void>;
      readonly failureCode: number;
    };

/** Options of every command, which may also be before its name. */
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

const version = { type: 'boolean', meaning: 'print the release' } as const;

/**
 * Parses the arguments of a program, and loads the command that they name. It does so with Node's parser: commander 14 makes this file no
 * shorter, and refuses an unknown command without the list of commands.
 * @throws UsageError
 */
export async function parseCommandLine(args: readonly string[], program: Program): Promise<CommandLine> {
  const { name, rest } = commandIn(args);
  if (name === undefined) {
    const given = parseOptions(rest, { version, ...commonOptions });
    return hasSwitch(given, 'version') ? { kind: 'version' } : { kind: 'help', command: undefined };
  }
  if (name === 'version') return { kind: 'version' };
  if (name === 'help') {
    const [about] = parseOptions(rest, commonOptions).positionals;
    return { kind: 'help', command: about === undefined ? undefined : await commandNamed(about, program) };
  }
  const command = await commandNamed(name, program);
  try {
    return await lineOf(command, rest);
  } catch (error) {
    if (error instanceof UsageError) error.command = command.name;
    throw error;
  }
}

/** Where the name of the command is: the first argument that is neither an option of every command nor its value. */
function commandIn(args: readonly string[]): { readonly name: string | undefined; readonly rest: readonly string[] } {
  const options = parserOptions(commonOptions);
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const found = tokens.find((token) => token.kind === 'positional');
  return found ? { name: found.value, rest: args.toSpliced(found.index, 1) } : { name: undefined, rest: args };
}

async function lineOf(command: Command, args: readonly string[]): Promise<CommandLine> {
  const parsed = parseOptions(args, { ...optionsOf(command), ...commonOptions });
  if (hasSwitch(parsed, 'help')) return { kind: 'help', command };
  const { given, namespace } = withNamespace(command, parsed);
  const offline = command.offline?.(given);
  if (offline) return { kind: 'offline', run: offline };
  const [kubeconfig, context] = [textOption(given, 'kubeconfig'), textOption(given, 'context')];
  return {
    kind: 'run',
    target: { kubeconfig, context, namespace, timeoutMs: await timeoutOf(given) },
    run: command.prepare(given),
    failureCode: command.failureCode ?? 1,
  };
}

/** Takes `NAMESPACE/CLUSTER` apart where a command takes a cluster, because `list -A` prints it so. @throws UsageError */
function withNamespace(
  { usage }: Command,
  given: ParsedArguments,
): { readonly given: ParsedArguments; readonly namespace: string | undefined } {
  const namespace = textOption(given, 'namespace');
  const last = given.positionals.at(-1) ?? '';
  const [, place, cluster] = /^([a-z0-9][-a-z0-9]*)\/([a-z0-9][-.a-z0-9]*)$/.exec(last) ?? [];
  const isFile = usage.startsWith('FILE') && (/\.(ya?ml|json)$/.test(last) || existsSync(last));
  if (place === undefined || cluster === undefined || isFile || !takesCluster(usage)) return { given, namespace };
  if (namespace !== undefined && namespace !== place)
    throw new UsageError(`${last} is in namespace ${place}, and -n names ${namespace}: leave one of them out`);
  return { given: { ...given, positionals: [...given.positionals.slice(0, -1), cluster] }, namespace: place };
}

/** Whether an argument of a command is, or may be, a cluster of the namespace. */
export function takesCluster(usage: string): boolean {
  return /(^|[| ])CLUSTER/.test(usage);
}

/** @throws UsageError */
async function timeoutOf(given: ParsedArguments): Promise<number | undefined> {
  const text = textOption(given, 'timeout');
  if (text === undefined) return undefined;
  const { durationSeconds, isDuration } = await import('../../constructs/api/duration.ts');
  if (!hasSwitch(given, 'wait')) throw new UsageError('--timeout is the time limit of --wait: set that, too');
  if (!isDuration(text) || durationSeconds(text) === 0)
    throw new UsageError(`--timeout must be a duration, such as 10m, not "${text}"`);
  return durationSeconds(text) * 1000;
}

async function commandNamed(name: string, { commands, aliases = {}, answers = {} }: Program): Promise<Command> {
  const meant = Object.hasOwn(aliases, name) ? aliases[name] : name;
  const found = commands.find((command) => command.name === meant);
  if (found) return found.load();
  const known = commands.map((command) => command.name);
  const nearest = nearestName(name, known);
  const instead = nearest === undefined ? `use one of ${known.join(', ')}` : `did you mean "${nearest}"?`;
  throw new UsageError(`unknown command "${name}": ${Object.hasOwn(answers, name) ? answers[name] : instead}`);
}

type Options = Readonly<Record<string, CommandOption>>;

function parserOptions(described: Options) {
  return Object.fromEntries(
    Object.entries(described).map(([name, { type, short }]) => [
      name,
      short === undefined ? { type } : { type, short },
    ]),
  );
}

function parseOptions(args: readonly string[], described: Options): ParsedArguments {
  try {
    const options = parserOptions(described);
    return parseArgs({ args: [...args], options, allowPositionals: true }) as ParsedArguments;
  } catch (error) {
    // Node's advice for arguments that start with a dash applies to no argument of a command.
    const [sentence = ''] = messageOf(error).split(/\. |\n/);
    throw new UsageError(`${sentence.replace(/\.$/, '')}${meantOption(sentence, described)}`, { cause: error });
  }
}

/** What a message about an unknown option adds, when one is near. */
function meantOption(sentence: string, described: Options): string {
  const unknown = /^Unknown option '--(.+)'/.exec(sentence)?.[1];
  const nearest = unknown === undefined ? undefined : nearestName(unknown, Object.keys(described));
  return nearest === undefined ? '' : `: did you mean --${nearest}?`;
}
