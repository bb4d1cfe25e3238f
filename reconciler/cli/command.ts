import type { ParseArgsOptionsConfig } from 'node:util';
import type { KubernetesApi } from '../kube/client.ts';
import type { CommandAccess } from './access.ts';
import type { ForwardedPort, PodPort } from './port-forward.ts';
import type { Terminal } from './terminal.ts';

/** Options of each write of a command: its field manager, which `kubectl get -o yaml --show-managed-fields` shows. */
export const cliFieldManager = { fieldManager: 'hcp' } as const;

/** The command line is invalid, and nothing has been done. The message says what was given and what is valid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The command whose arguments they are, which the advice names. */
  command: string | undefined;
}

/** A command has found what it was asked to look for, which its exit code 1 says. */
export class NegativeResult extends Error {
  override readonly name = 'NegativeResult';
}

/** The environment of a command. */
export interface Session {
  /** Client of the management cluster, with the user's own permissions. */
  readonly client: KubernetesApi;
  readonly namespace: string;
  readonly terminal: Terminal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after so many milliseconds. */
  readonly pause: (ms: number) => Promise<unknown>;
  /** Time after which it no longer waits for an operation, in milliseconds; without an end when unset. */
  readonly timeoutMs?: number | undefined;
  /** Opens a port of this machine that leads to a port of a pod. */
  readonly forward: (port: PodPort) => Promise<ForwardedPort>;
}

/** Arguments of a command. */
export interface ParsedArguments {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
}

/** A program with commands, which users run by its name. */
export interface Program {
  readonly name: string;
  /** What it does, in the first line of its help. */
  readonly summary: string;
  /** Its commands, in the order of the help. */
  readonly commands: readonly CommandEntry[];
  /** Names that people know from other programs, with the command that each one means. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Names that people try, with what to do instead. */
  readonly answers?: Readonly<Record<string, string>>;
}

/** A command in the list of its program. Its module, and the libraries that it needs, are loaded when it is named. */
export interface CommandEntry {
  readonly name: string;
  /** Heading in the help of the program. */
  readonly group: string;
  /** What it does, in a few words. */
  readonly short: string;
  readonly load: () => Promise<Command>;
}

/** Loads every command of a program, in the order of the help. */
export function allCommands({ commands }: Pick<Program, 'commands'>): Promise<readonly Command[]> {
  return Promise.all(commands.map(({ load }) => load()));
}

/** One command of a program. */
export interface Command {
  /** That of its entry in the program. */
  readonly name: string;
  /** Lines that people type, each with what it is for, the most frequent one first. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
  /** Arguments in the help, such as `CLUSTER [--wait]`. */
  readonly usage: string;
  /** Summary of the command, in one line. */
  readonly summary: string;
  /** Its options, in the order of the help. */
  readonly options: Readonly<Record<string, CommandOption>>;
  /** The rights that it needs in the management cluster, with all its options. */
  readonly access: readonly CommandAccess[];
  /** Exit code of a failure, where 1 is a {@link NegativeResult}. @default 1 */
  readonly failureCode?: number;
  /**
   * Parses the arguments, and returns the function that runs the command.
   * @throws UsageError
   */
  prepare(given: ParsedArguments): (session: Session) => Promise<void>;
  /**
   * Returns a function that runs without a management cluster; undefined when one is needed.
   * @throws UsageError
   */
  offline?(given: ParsedArguments): ((terminal: Terminal) => void | Promise<void>) | undefined;
}

type ParsedOption = ParseArgsOptionsConfig[string];

/** An option with its help text. */
export interface CommandOption extends Pick<ParsedOption, 'type' | 'short'> {
  /** Placeholder of its value in the help, such as `NAME`, or all its values, such as `json|yaml`; missing for a switch. */
  readonly value?: string;
  readonly meaning: string;
}

/** The only argument of a command for one Cluster. @throws UsageError for any other number of arguments */
export function clusterArgument({ positionals }: ParsedArguments): string {
  const [cluster, ...more] = positionals;
  if (cluster === undefined) throw new UsageError('the cluster is missing: set the name of the Cluster');
  if (more.length > 0) throw new UsageError(`set one cluster, not ${positionals.length}: ${positionals.join(' ')}`);
  return cluster;
}

/** The options of a command that waits for an operation have its time limit, too. */
export function optionsOf({ options }: Pick<Command, 'options'>): Readonly<Record<string, CommandOption>> {
  return 'wait' in options ? { ...options, timeout } : options;
}

const timeout: CommandOption = {
  type: 'string',
  value: 'DURATION',
  meaning: 'with --wait: fail after this time, such as 10m, while the operation continues; without an end when unset',
};

/** The text of an option; undefined when it is not set. */
export function textOption({ values }: ParsedArguments, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a switch is set. */
export function hasSwitch({ values }: ParsedArguments, name: string): boolean {
  return values[name] === true;
}

/** Another Cluster as `NAMESPACE/NAME`; undefined when it is not set. @throws UsageError */
export function otherClusterOption(
  given: ParsedArguments,
  name: string,
): { namespace: string; cluster: string } | undefined {
  const text = textOption(given, name);
  if (text === undefined) return undefined;
  const [namespace, cluster, ...more] = text.split('/');
  if (namespace && cluster && more.length === 0) return { namespace, cluster };
  throw new UsageError(`--${name} must be NAMESPACE/CLUSTER, such as team/c1, not "${text}"`);
}
