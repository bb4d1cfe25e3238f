import type { k8s } from 'cdk8s-plus-30';
import type { Pod } from '../api/pod-spec.ts';
import { definedOnly } from '../cluster/defined.ts';
import { nonRoot, unprivileged } from './unprivileged.ts';

export interface RestrictedPodProps {
  /** Steps that run before the containers, and sidecars that run from before they start until after they end. */
  readonly initContainers?: k8s.Container[] | undefined;
  readonly containers: k8s.Container[];
  readonly volumes: k8s.Volume[];
  /** The user's settings for this component, if any. */
  readonly pod: Pod | undefined;
  /**
   * Count only pods of one revision when spreading. True for Deployments, whose surge pods could not be scheduled
   * otherwise.
   */
  readonly spreadPerRevision: boolean;
  /** Selects the pods of this workload. */
  readonly selector: Readonly<Record<string, string>>;
}

/** A pod with the settings of every workload: no API token, PodSecurity "restricted", spread over nodes and zones. */
export function restrictedPod(props: RestrictedPodProps): k8s.PodSpec {
  const spread = (topologyKey: string, whenUnsatisfiable: string): k8s.TopologySpreadConstraint => ({
    topologyKey,
    maxSkew: 1,
    whenUnsatisfiable,
    nodeAffinityPolicy: 'Honor',
    nodeTaintsPolicy: 'Honor',
    labelSelector: { matchLabels: props.selector },
    ...(props.spreadPerRevision ? { matchLabelKeys: ['pod-template-hash'] } : {}),
  });
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      ...unprivileged,
      fsGroup: nonRoot,
      // Otherwise the kubelet changes the owner of every file of the etcd volume at every start.
      fsGroupChangePolicy: 'OnRootMismatch',
    },
    topologySpreadConstraints: [
      spread('kubernetes.io/hostname', 'DoNotSchedule'),
      spread('topology.kubernetes.io/zone', 'ScheduleAnyway'),
    ],
    ...definedOnly({ priorityClassName: props.pod?.priorityClassName }),
    ...(props.initContainers?.length ? { initContainers: props.initContainers } : {}),
    containers: props.containers,
    volumes: props.volumes,
  };
}
