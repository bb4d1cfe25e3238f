/** Runs kubectl with these arguments and returns its standard output. */
export type Kubectl = (args: readonly string[]) => Promise<string>;

/** How often a wait goes on at most: pods that restart for ever change for ever. */
const mostRounds = 10;

/** What of pods changes while they come up: neither heartbeats nor times. */
const podStates =
  '--output=jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName} {.status.phase} {.status.conditions[*].status} {.status.containerStatuses[*].state}{"\\n"}{end}';

/** Whether kubectl gives up at a limit of time, and can be asked again. */
export function isWait(args: readonly string[]): boolean {
  return args.some((arg) => arg.startsWith('--timeout')) && (args.includes('wait') || args.includes('rollout'));
}

/**
 * Waits by kubectl for as long as pods change: its own limit is that of no progress, because what goes on does not hang, even on a
 * machine with ten times its usual load.
 */
export async function waitWhilePodsChange(kubectl: Kubectl, args: readonly string[]): Promise<string> {
  const at = args.indexOf('--kubeconfig');
  const cluster = at < 0 ? [] : args.slice(at, at + 2);
  const observe = () => kubectl([...cluster, 'get', 'pods', '--all-namespaces', podStates]).catch(() => 'no answer');
  for (let round = 1, before = await observe(); ; round++) {
    try {
      return await kubectl(args);
    } catch (error) {
      const now = await observe();
      const isTimeout = error instanceof Error && /timed out waiting|deadline exceeded/i.test(error.message);
      if (!isTimeout || now === before || round === mostRounds) throw error;
      before = now;
    }
  }
}
