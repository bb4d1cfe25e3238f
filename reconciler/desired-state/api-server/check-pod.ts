import type { PodObject } from '../../../imports/kubernetes.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { checkedAnnotation } from '../../../constructs/control-plane/api-server/checked-configuration.ts';
import { hasEnded } from '../../kube/readiness.ts';
import type { Reader } from '../../clusters/management/view.ts';
import { oneLine } from '../../kube/termination-message.ts';
import { configurationCheckResult, type ConfigurationCheckResult } from './check-result.ts';

/** The pod of a control plane that checks, or has checked, and is the record of what its kube-apiserver has said. */
export function checkPodOf(reader: Pick<Reader, 'get'>, cluster: string): PodObject | undefined {
  return reader.get<PodObject>(Pod, namesOf(cluster).apiServerCheck);
}

/** Whether a pod is about this configuration, and not about an earlier one. */
export function checksConfiguration(pod: PodObject, configuration: string | undefined): boolean {
  return pod.metadata.annotations?.[checkedAnnotation] === configuration;
}

/** What a pod has found out; undefined while it has not ended. */
export function checkResultOf({ status = {}, ...pod }: PodObject): ConfigurationCheckResult | undefined {
  if (!hasEnded({ ...pod, status })) return undefined;
  const ended = status.containerStatuses?.[0]?.state?.terminated;
  // A pod that was evicted, or ended at its deadline, says nothing about the configuration.
  if (ended === undefined || status.reason) {
    const { reason = 'no reason given', message = '' } = status;
    return { kind: 'unknown', message: oneLine(`the pod ended: ${reason}: ${message}`) };
  }
  return configurationCheckResult(ended);
}
