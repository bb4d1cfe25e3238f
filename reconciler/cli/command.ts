import type { ParseArgsOptionsConfig } from 'node:util';
import type { KubeClient } from '../kube/client.ts';
import type { Terminal } from './terminal.ts';

/** What was typed cannot be understood: nothing has been done. The message says what was given and what is right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What a command works with. */
export interface Session {
  /** The management cluster, with the user's own rights. */
  readonly client: KubeClient;
  readonly namespace: string;
  readonly terminal: Terminal;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What was typed after the name of a command. */
export interface Given {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
}

/** One command of `hcp`. */
export interface Command {
  readonly name: string;
  /** What stands behind the name, such as `CLUSTER [--wait]`. */
  readonly usage: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** Its options, in the order they are explained. */
  readonly options: Readonly<Record<string, CommandOption>>;
  /**
   * Reads what was typed and says what to do then.
   * @throws UsageError
   */
  prepare(given: Given): (session: Session) => Promise<void>;
  /**
   * What can be told without a management cluster; undefined where one is needed.
   * @throws UsageError
   */
  offline?(given: Given): ((terminal: Terminal) => void) | undefined;
}

type ParsedOption = ParseArgsOptionsConfig[string];

/** An option with its explanation. */
export interface CommandOption extends Pick<ParsedOption, 'type' | 'short'> {
  /** What stands for its value, such as `NAME`; nothing for a switch. */
  readonly value?: string;
  readonly meaning: string;
}

/** The only argument of a command that is about one Cluster. @throws UsageError when there is another number of them. */
export function clusterArgument({ positionals }: Given): string {
  const [cluster, ...more] = positionals;
  if (cluster === undefined) throw new UsageError('which cluster? Give the name of its Cluster');
  if (more.length > 0) throw new UsageError(`give one cluster, not ${positionals.length}: ${positionals.join(' ')}`);
  return cluster;
}

/** The text of an option; undefined where it was not given. */
export function textOption({ values }: Given, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a switch was given. */
export function hasSwitch({ values }: Given, name: string): boolean {
  return values[name] === true;
}

/** Another Cluster by `NAMESPACE/NAME`; undefined where it was not given. @throws UsageError */
export function otherClusterOption(given: Given, name: string): { namespace: string; cluster: string } | undefined {
  const text = textOption(given, name);
  if (text === undefined) return undefined;
  const [namespace, cluster, ...more] = text.split('/');
  if (namespace && cluster && more.length === 0) return { namespace, cluster };
  throw new UsageError(`--${name} must be NAMESPACE/CLUSTER, such as team/c1, not "${text}"`);
}
