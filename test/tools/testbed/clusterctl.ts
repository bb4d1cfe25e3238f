import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { binDirectory, type Instance, kubeconfigPath } from './instance.ts';
import { run } from './run.ts';

/** Starts `clusterctl`, for a command that a test observes or interrupts. */
export function startClusterctl(
  instance: Instance,
  args: readonly string[],
): { readonly child: ChildProcess; readonly said: () => string } {
  const child = spawn(programOf(instance), args, { env: environmentOf(instance), stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { child, said: () => text };
}

/**
 * Runs `clusterctl` with a management cluster, without its question for newer releases, and with values of the variables of
 * templates; returns its standard output.
 */
export async function clusterctl(
  instance: Instance,
  args: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<string> {
  return run([programOf(instance), ...args], { env: { ...environmentOf(instance), ...variables } });
}

function programOf(instance: Instance): string {
  return join(binDirectory(instance), 'clusterctl');
}

function environmentOf(instance: Instance): NodeJS.ProcessEnv {
  return { ...process.env, KUBECONFIG: kubeconfigPath(instance), CLUSTERCTL_DISABLE_VERSIONCHECK: 'true' };
}
