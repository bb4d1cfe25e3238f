import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { repository } from '../testbed/operator-bundle.ts';

/** How a run of the command line ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A run of the command line as a process of its own, without a terminal. */
export interface Running {
  readonly ended: Promise<Ended>;
  /** What it has told so far. */
  told(): string;
}

/** Runs `hcp`. @param kubeconfig path of the management cluster's */
export function runHcp(kubeconfig: string, args: readonly string[]): Running {
  const program = ['--import', 'tsx', join(repository, 'reconciler/cli/main.ts')];
  const child = spawn(process.execPath, [...program, ...args, '--kubeconfig', kubeconfig], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: repository,
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
  return { ended, told: () => err };
}
