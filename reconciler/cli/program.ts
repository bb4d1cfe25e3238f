import { setTimeout as sleep } from 'node:timers/promises';
import { forwardPort } from './port-forward.ts';
import { releaseVersion } from '../../constructs/provider/release.ts';
import { KubeClient } from '../kube/client.ts';
import { connect, loadKubeConfig } from '../kube/config.ts';
import { messageOf } from '../kube/error-message.ts';
import { type CommandLine, parseCommandLine, type Target } from './command-line.ts';
import { NegativeResult, type Program, type Session, UsageError } from './command.ts';
import { helpOf, helpOfAll } from './help.ts';
import { processTerminal } from './terminal.ts';

/** Parses the arguments of this process, runs one command and sets the exit code: 0 success, 1 failure, 2 invalid command line. */
export async function runProgram(program: Program): Promise<void> {
  process.stdout.once('error', endQuietly);
  try {
    await runLine(program, parseCommandLine(process.argv.slice(2), program));
  } catch (error) {
    fail(program, error);
  }
}

/** A reader such as `head` closes the pipe when it has enough: then the program ends without an error. */
function endQuietly(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit();
  throw error;
}

async function runLine(program: Program, line: CommandLine): Promise<void> {
  if (line.kind === 'version') {
    processTerminal.print(`${program.name} ${releaseVersion}`);
    return;
  }
  if (line.kind === 'help') {
    processTerminal.print(line.command ? helpOf(program, line.command) : helpOfAll(program));
    return;
  }
  if (line.kind === 'offline') {
    line.run(processTerminal);
    return;
  }
  try {
    await runIn(line.target, line.run);
  } catch (error) {
    fail(program, error, line.failureCode);
  }
}

async function runIn(target: Target, run: (session: Session) => Promise<void>): Promise<void> {
  const config = kubeConfigOf(target);
  const client = new KubeClient(await connect(config));
  const { connection } = client;
  const namespace = target.namespace ?? connection.namespace ?? 'default';
  const session: Session = {
    client,
    namespace,
    terminal: processTerminal,
    now: () => Date.now(),
    pause: sleep,
    forward: (port) => forwardPort(config, port),
  };
  try {
    await run(session);
  } finally {
    await connection.close();
  }
}

function kubeConfigOf({ kubeconfig, context }: Target) {
  const config = loadKubeConfig(kubeconfig);
  if (context === undefined) return config;
  if (!config.getContextObject(context)) {
    const known = config.getContexts().map(({ name }) => name);
    throw new Error(`the kubeconfig has no context "${context}": choose one of ${known.join(', ') || 'none'}`);
  }
  config.setCurrentContext(context);
  return config;
}

/** @param failureCode exit code of an error that is neither of the command line nor an answer */
function fail({ name }: Program, error: unknown, failureCode = 1): void {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`${name}: ${messageOf(error)}\n`);
  if (isUsage) process.stderr.write(`Run ${name} help for usage.\n`);
  process.exitCode = isUsage ? 2 : error instanceof NegativeResult ? 1 : failureCode;
}
