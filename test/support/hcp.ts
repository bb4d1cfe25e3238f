import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inject } from 'vitest';
import type { Command, Program } from '../../reconciler/cli/command.ts';
import { hcp } from '../../reconciler/cli/commands.ts';
import { hcpImport } from '../../reconciler/import/program.ts';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { bundleCommandLine, type CommandLineName } from '../tools/testbed/operator-bundle.ts';
import { commandGrants, type Elsewhere } from './command-rights.ts';
import { GrantedAccount } from './granted-account.ts';

/** How a run of the command line ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A run of the command line as its own process, without a terminal. */
export interface Running {
  readonly ended: Promise<Ended>;
  /** Its output on stderr so far. */
  reported(): string;
}

const programs: Readonly<Record<CommandLineName, Program>> = { hcp, 'hcp-import': hcpImport };
const bundled: Partial<Record<CommandLineName, Promise<string>>> = {};

/**
 * A program as it is shipped, bundled once per process, because bundling takes longer than a run. The testbed's removal
 * removes it: a process of tests runs no handlers when vitest ends it.
 */
function bundle(name: CommandLineName): Promise<string> {
  return bundleCommandLine(name, join(instanceFrom(process.env, inject('testbed')).directory, `hcp-${process.pid}`));
}

/** Where a user runs commands. */
export interface HcpUserOptions {
  /** An administrator's, of the same API server as the kubeconfig. */
  readonly client: () => KubeClient;
  /** Path of any kubeconfig of the API server. */
  readonly kubeconfig: () => string;
  /** The namespace of the control planes, and of the ServiceAccounts with which the commands run. */
  readonly namespace: string;
  /** Namespaces of what a command reads elsewhere. By default the same. */
  readonly elsewhere?: Elsewhere;
}

/**
 * Runs commands as a user who has the rights that their help asks for, and no others: each command as a ServiceAccount of its
 * own.
 */
export class HcpUser {
  readonly #options: HcpUserOptions;
  readonly #accounts = new Map<string, Promise<GrantedAccount>>();
  readonly #clients = new Map<Command, KubeClient>();

  constructor(options: HcpUserOptions) {
    this.#options = options;
  }

  /** Runs `hcp` as a process of its own. */
  run(...args: readonly string[]): Running {
    return this.runProgram('hcp', ...args);
  }

  /** Runs one of the programs as a process of its own. */
  runProgram(name: CommandLineName, ...args: readonly string[]): Running {
    let err = '';
    const { values } = parseArgs({ args: [...args], options: { namespace }, strict: false });
    const own = typeof values.namespace === 'string' ? values.namespace : this.#options.namespace;
    const entry = programs[name].commands.find((one) => one.name === args[0]);
    const ended = async (): Promise<Ended> => {
      const command = await entry?.load();
      const program = await (bundled[name] ??= bundle(name));
      const { kubeconfig } = await this.#accountOf(command, own);
      const child = spawn(process.execPath, [program, ...args, '--kubeconfig', kubeconfig], {
        stdio: ['ignore', 'pipe', 'pipe'],
        // tests read it, also where vitest is to write colours
        env: { ...process.env, FORCE_COLOR: undefined },
      });
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
      return new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code) => resolve({ code, out, err }));
      });
    };
    return { ended: ended(), reported: () => err };
  }

  /** A client for a command that runs in this process. */
  async client(command: Command): Promise<KubeClient> {
    const known = this.#clients.get(command);
    if (known) return known;
    const account = await this.#accountOf(command, this.#options.namespace);
    const client = new KubeClient(await account.connect());
    this.#clients.set(command, client);
    return client;
  }

  /** Removes the ServiceAccounts and their rights. */
  async end(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.connection.close()));
    this.#clients.clear();
    await Promise.all([...this.#accounts.values()].map(async (account) => (await account).end()));
    this.#accounts.clear();
  }

  #accountOf(command: Command | undefined, own: string): Promise<GrantedAccount> {
    const { client, kubeconfig, namespace: home, elsewhere } = this.#options;
    const name = ['hcp', command?.name ?? 'help', ...(own === home ? [] : [own])].join('-');
    const known = this.#accounts.get(name);
    if (known) return known;
    const grants = command ? commandGrants(command, own, elsewhere) : [];
    const place = { client: client(), kubeconfig: kubeconfig(), namespace: home };
    const account = GrantedAccount.create({ ...place, name, grants });
    this.#accounts.set(name, account);
    return account;
  }
}

const namespace = { type: 'string', short: 'n' } as const;
