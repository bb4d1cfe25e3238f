import { join } from 'node:path';
import { binDirectory, kubeconfigPath, type Instance } from './instance.ts';
import { isWait, waitWhilePodsChange } from './kubectl-wait.ts';
import { run } from './run.ts';

/**
 * Runs kubectl with the management cluster and returns its standard output; `input` is the content for `-f -`. A wait with a
 * limit goes on beyond it while pods change.
 */
export async function kubectl(instance: Instance, args: readonly string[], input?: string): Promise<string> {
  const env = { ...process.env, KUBECONFIG: kubeconfigPath(instance) };
  const once = (each: readonly string[]) => run([join(binDirectory(instance), 'kubectl'), ...each], { env, input });
  return isWait(args) ? waitWhilePodsChange(once, args) : once(args);
}

/** Ends when a new namespace accepts pods: they are refused until the controller manager has created its ServiceAccount. */
export async function untilNamespaceTakesPods(instance: Instance, namespace: string): Promise<void> {
  const isThere = ['wait', '--for=create', 'serviceaccount/default', '--timeout=60s'];
  await kubectl(instance, ['--namespace', namespace, ...isThere]);
}
