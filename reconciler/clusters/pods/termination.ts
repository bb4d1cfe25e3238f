import type { PodObject } from '../../../imports/kubernetes.ts';
import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { wait, type Wait } from '../../engine/outcome.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import { awayOf } from './lost-node.ts';
import { untilLateMs } from './pod-problem.ts';

/** Waits for the end of these pods. @param names of pods, or of what stands for those that may still be created */
export function waitForTermination(
  reason: ConditionReason,
  names: readonly string[],
  { reader, now }: Pick<ControlPlaneContext, 'reader' | 'now'>,
): Wait {
  // A cache has no order, and another order would be another message.
  const sorted = names.toSorted();
  const pods = sorted.flatMap((name) => reader.get<PodObject>(Pod, name) ?? []);
  return waitForEnd(reason, `waiting for the termination of ${sorted.join(', ') || 'no pods'}`, pods, now);
}

/** Waits for the end of pods, and says which of their nodes do not confirm it. @param what is waited for */
export function waitForEnd(reason: ConditionReason, what: string, pods: readonly PodObject[], now: Date): Wait {
  const away = pods.flatMap((pod) => {
    const text = awayOf(pod, now);
    return text === undefined ? [] : [`pod ${pod.metadata.name}: ${text}`];
  });
  // No event reports that a node stays silent.
  return wait(reason, [what, ...away].join('; '), { afterMs: untilLateMs({ pods, now }) });
}
