import type { k8s } from 'cdk8s-plus-30';
import { nodeTopology } from '../api/overlay-spec.ts';

/** Unprivileged user and group of every container; the ID of `nonroot` in distroless images. */
export const nonRoot = 65532;

/** The settings that PodSecurity "restricted" requires of a pod, independent of its image. */
export const unprivileged = {
  runAsNonRoot: true,
  runAsUser: nonRoot,
  runAsGroup: nonRoot,
  seccompProfile: { type: 'RuntimeDefault' },
} as const satisfies k8s.PodSecurityContext;

export interface RestrictedPodProps {
  /** Steps that run before the containers, and sidecars that run from before they start until after they end. */
  readonly initContainers?: k8s.Container[] | undefined;
  readonly containers: k8s.Container[];
  readonly volumes: k8s.Volume[];
  /**
   * Count only pods of one revision when spreading. True for Deployments, whose surge pods could not be scheduled
   * otherwise.
   */
  readonly spreadPerRevision: boolean;
  /** Selects pods of another workload; a node with one of them is preferred. @default none */
  readonly near?: Readonly<Record<string, string>>;
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
    ...(props.near ? { affinity: nearTo(props.near) } : {}),
    topologySpreadConstraints: [
      spread(nodeTopology, 'DoNotSchedule'),
      spread('topology.kubernetes.io/zone', 'ScheduleAnyway'),
    ],
    ...(props.initContainers?.length ? { initContainers: props.initContainers } : {}),
    containers: props.containers,
    volumes: props.volumes,
  };
}

/** Only preferred, so that pods still spread. What they prefer to be near to spreads as they do. */
function nearTo(matchLabels: Readonly<Record<string, string>>): k8s.Affinity {
  const podAffinityTerm = { topologyKey: nodeTopology, labelSelector: { matchLabels } };
  return { podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, podAffinityTerm }] } };
}
