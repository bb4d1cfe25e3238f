import { join } from 'node:path';
import { binDirectory, kubeconfigPath, type Instance } from './instance.ts';
import { run } from './run.ts';

/** Runs kubectl against the management cluster and gives its standard output; `input` is what `-f -` reads. */
export async function kubectl(instance: Instance, args: readonly string[], input?: string): Promise<string> {
  const env = { ...process.env, KUBECONFIG: kubeconfigPath(instance) };
  return run([join(binDirectory(instance), 'kubectl'), ...args], { env, input });
}
