import { k8s } from 'cdk8s-plus-30';

export interface DisruptionBudgetProps {
  readonly metadata: k8s.ObjectMeta;
  /** Selects the pods of the workload. */
  readonly selector: Readonly<Record<string, string>>;
  /**
   * Which pods that are not ready may be evicted. `AlwaysAllow` where such a pod is of no use to the others, so that it holds no
   * drain. `IfHealthyBudget`: only as long as no more than one pod is not ready.
   */
  readonly notReady: 'AlwaysAllow' | 'IfHealthyBudget';
}

/** Lets drains of several nodes evict the pods of a workload one after the other. */
export function disruptionBudget(props: DisruptionBudgetProps): k8s.KubePodDisruptionBudgetProps {
  return {
    metadata: props.metadata,
    spec: {
      maxUnavailable: k8s.IntOrString.fromNumber(1),
      unhealthyPodEvictionPolicy: props.notReady,
      selector: { matchLabels: { ...props.selector } },
    },
  };
}
