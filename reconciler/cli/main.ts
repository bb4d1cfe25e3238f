#!/usr/bin/env node
import { setTimeout as sleep } from 'node:timers/promises';
import { forwardPort } from './port-forward.ts';
import { releaseVersion } from '../../constructs/provider/release.ts';
import { KubeClient } from '../kube/client.ts';
import { connect, loadKubeConfig } from '../kube/config.ts';
import { messageOf } from '../kube/error-message.ts';
import { parseCommandLine, type Target } from './command-line.ts';
import { Answer, type Session, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { helpOf, helpOfAll } from './help.ts';
import { processTerminal } from './terminal.ts';

/**
 * `hcp`: parses the arguments, runs one command and sets the exit code: 0 success, 1 failure, 2 invalid command line.
 */
async function main(args: readonly string[]): Promise<void> {
  const line = parseCommandLine(args, commands);
  if (line.kind === 'version') {
    processTerminal.print(`hcp ${releaseVersion}`);
    return;
  }
  if (line.kind === 'help') {
    processTerminal.print(line.command ? helpOf(line.command) : helpOfAll(commands));
    return;
  }
  if (line.kind === 'offline') {
    line.run(processTerminal);
    return;
  }
  try {
    await runIn(line.target, line.run);
  } catch (error) {
    fail(error, line.failureCode);
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
function fail(error: unknown, failureCode = 1): void {
  const isUsage = error instanceof UsageError;
  process.stderr.write(`hcp: ${messageOf(error)}\n`);
  if (isUsage) process.stderr.write('Run hcp help for usage.\n');
  process.exitCode = isUsage ? 2 : error instanceof Answer ? 1 : failureCode;
}

main(process.argv.slice(2)).catch((error: unknown) => fail(error));
