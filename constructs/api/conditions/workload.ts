import type { ConditionDescription } from '../severity.ts';

/** Conditions of the steps in the hosted cluster. */
export const workloadConditions = {
  WorkloadRBACReady: {
    meaning: 'the control plane components and joining nodes have their permissions in the hosted cluster',
    reasons: { WaitingForAPIServer: 'Routine' },
  },
  WorkloadClusterInfoReady: {
    meaning: 'kubeadm join finds the endpoint and the CA in kube-public/cluster-info',
    reasons: { WaitingForAPIServer: 'Routine' },
  },
  WorkloadKubeadmConfigReady: {
    meaning: 'kubeadm join finds kube-system/kubeadm-config',
    reasons: { WaitingForAPIServer: 'Routine' },
  },
  WorkloadKubeletConfigReady: {
    meaning: 'kubeadm join finds kube-system/kubelet-config',
    reasons: { WaitingForAPIServer: 'Routine' },
  },
  WorkloadKubeletCertificatesReady: {
    meaning:
      'no kubelet waits for a serving certificate, without which logs and exec do not work on its node, and none has lost its client certificate during a hibernation',
    reasons: {
      WaitingForAPIServer: 'Routine',
      RequestNotApproved: 'Warning',
      KubeletCertificatesExpired: 'Warning',
      HostedClusterTooLarge: 'Warning',
    },
  },
  WorkloadSetupReady: {
    meaning: 'workers can join: permissions and configuration exist, and the controllers work',
    reasons: { WaitingForAPIServer: 'Routine', WaitingForControllers: 'Routine' },
  },
  WorkloadKubeProxyReady: {
    meaning: 'kube-proxy is applied in the hosted cluster and runs on every node',
    reasons: { WaitingForAPIServer: 'Routine', WaitingForPods: 'Routine' },
  },
  WorkloadCoreDNSReady: {
    meaning: 'CoreDNS is applied in the hosted cluster and runs if there are nodes',
    reasons: { WaitingForAPIServer: 'Routine', WaitingForPods: 'Routine', PodsFailing: 'Warning' },
  },
  WorkloadKonnectivityReady: {
    meaning:
      'the konnectivity agent is applied in the hosted cluster and runs if there are nodes, and each API server has one',
    reasons: {
      WaitingForAPIServer: 'Routine',
      WaitingForPods: 'Routine',
      PodsFailing: 'Warning',
      APIServerWithoutAgent: 'Warning',
    },
  },
  WorkloadInClusterAccessReady: {
    meaning: 'pods of the hosted cluster can reach their API server',
    reasons: {
      WaitingForAPIServer: 'Routine',
      WaitingForPods: 'Routine',
      PodsFailing: 'Warning',
      InClusterAccessNotSupported: 'Warning',
    },
  },
  WorkloadKubernetesServiceReady: {
    meaning:
      'the Service kubernetes of the hosted cluster leads to the API server, for programs that connect to its name',
    reasons: {
      WaitingForAPIServer: 'Routine',
      WaitingForPods: 'Routine',
      PodsFailing: 'Warning',
      ServiceNotServed: 'Routine',
      // WorkloadInClusterAccessReady has the Warning.
      InClusterAccessNotSupported: 'Routine',
    },
  },
} as const satisfies Readonly<Record<string, ConditionDescription>>;
