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
  readonly commands: readonly Command[];
}

/** One command of a program. */
export interface Command {
  readonly name: string;
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
  offline?(given: ParsedArguments): ((terminal: Terminal) => void) | undefined;
}

type ParsedOption = ParseArgsOptionsConfig[string];

/** An option with its help text. */
export interface CommandOption extends Pick<ParsedOption, 'type' | 'short'> {
  /** Placeholder of its value in the help, such as `NAME`; missing for a switch. */
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
