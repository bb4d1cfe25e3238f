import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { inject } from 'vitest';
import { instanceFrom } from '../testbed/instance.ts';
import { bundleCommandLine } from '../testbed/operator-bundle.ts';

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

let bundled: Promise<string> | undefined;

/**
 * The command line as it is shipped, bundled once per process, because bundling takes longer than a run. The testbed's removal
 * removes it: a process of tests runs no handlers when vitest ends it.
 */
function bundle(): Promise<string> {
  return bundleCommandLine(join(instanceFrom(process.env, inject('testbed')).directory, `hcp-${process.pid}`));
}

/** Runs `hcp`. @param kubeconfig path of the management cluster's kubeconfig */
export function runHcp(kubeconfig: string, args: readonly string[]): Running {
  let err = '';
  const ended = async (): Promise<Ended> => {
    const program = await (bundled ??= bundle());
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
