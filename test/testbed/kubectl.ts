import { join } from 'node:path';
import { binDirectory, kubeconfigPath, type Instance } from './instance.ts';
import { run } from './run.ts';

/** Runs kubectl against the management cluster and gives its standard output; `input` is what `-f -` reads. */
export async function kubectl(instance: Instance, args: readonly string[], input?: string): Promise<string> {
  const env = { ...process.env, KUBECONFIG: kubeconfigPath(instance) };
  return run([join(binDirectory(instance), 'kubectl'), ...args], { env, input });
}

/** Ends when a new namespace takes pods: they are refused until the controller manager has made its ServiceAccount. */
export async function untilNamespaceTakesPods(instance: Instance, namespace: string): Promise<void> {
  const isThere = ['wait', '--for=create', 'serviceaccount/default', '--timeout=60s'];
  await kubectl(instance, ['--namespace', namespace, ...isThere]);
}
