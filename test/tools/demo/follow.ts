import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import type { Condition } from '../../../constructs/api/status.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { HostedControlPlaneObject } from '../../support/workbench.ts';
import { type Report, until } from '../testbed/progress.ts';
import { stepsBetween } from './progress.ts';

/** Longer than the slowest known machine needs; the screen shows what it waits for. */
const limitMs = 600_000;

/**
 * Prints the progress of a control plane, and what it waits for, until it is ready.
 * @param start a `performance.now()`, the start of the times
 */
export async function followUntilReady(
  client: KubeClient,
  name: { readonly namespace: string; readonly name: string },
  start: number,
  report: Report,
): Promise<void> {
  let seen: readonly Condition[] = [];
  await until({ what: `HostedControlPlane ${name.name} ready`, timeoutMs: limitMs, intervalMs: 100 }, async () => {
    const { status } = await client.get<HostedControlPlaneObject>(HostedControlPlane, name);
    const conditions = status?.conditions ?? [];
    const seconds = (performance.now() - start) / 1000;
    for (const { isDone, text } of stepsBetween(seen, conditions)) {
      report(`${seconds.toFixed(2).padStart(7)} s  ${isDone ? 'ok' : '..'}  ${text}`);
    }
    seen = conditions;
    return conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  });
}
