import { messageOf } from '../kube/error-message.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { NegativeResult, type Program, UsageError } from './command.ts';
import { processTerminal } from './terminal.ts';

// What a command alone needs is loaded by it: the help and the release answer at once.

/** Parses the arguments of this process, runs one command and sets the exit code: 0 success, 1 failure, 2 invalid command line. */
export async function runProgram(program: Program): Promise<void> {
  process.stdout.once('error', endQuietly);
  process.once('uncaughtException', (error) => {
    fail(program, error);
    process.exit();
  });
  try {
    await runLine(program, await parseCommandLine(process.argv.slice(2), program));
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
    const { releaseVersion } = await import('../../constructs/provider/release.ts');
    processTerminal.print(`${program.name} ${releaseVersion}`);
    return;
  }
  if (line.kind === 'help') {
    const { helpOf, helpOfAll } = await import('./help.ts');
    processTerminal.print(line.command ? helpOf(program, line.command) : helpOfAll(program));
    return;
  }
  if (line.kind === 'offline') return line.run(processTerminal);
  try {
    const { runIn } = await import('./session.ts');
    await runIn(line.target, line.run);
  } catch (error) {
    fail(program, error, line.failureCode);
  }
}

/** @param failureCode exit code of an error that is neither of the command line nor an answer */
function fail({ name }: Program, error: unknown, failureCode = 1): void {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`${name}: ${explained(error)}\n`);
  if (isUsage) process.stderr.write(`Run ${[name, 'help', ...(error.command ? [error.command] : [])].join(' ')}\n`);
  process.exitCode = isUsage ? 2 : error instanceof NegativeResult ? 1 : failureCode;
}

const adviceOfNode = '; if the root CA is installed locally, try running Node.js with --use-system-ca';

/** The message of an error, without what it says of Node, and with what a person does about rejected credentials. */
function explained(error: unknown): string {
  const message = messageOf(error).replace(adviceOfNode, '');
  const isRejected = error instanceof Error && 'code' in error && error.code === 401;
  return isRejected ? `${message}: your credentials have expired, or this API server does not know them` : message;
}
