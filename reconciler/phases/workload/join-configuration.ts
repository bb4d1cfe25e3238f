import { workloadPart } from './part.ts';
import { workloadRBAC } from './rbac.ts';

/**
 * The input of `kubeadm join`, in the order in which it reads it: the CA and the endpoint, the configuration of the
 * cluster, the configuration of the kubelet.
 */
export const clusterInfo = workloadPart({
  condition: 'WorkloadClusterInfoReady',
  needs: [workloadRBAC],
  part: 'cluster-info',
});
export const kubeadmConfig = workloadPart({
  condition: 'WorkloadKubeadmConfigReady',
  needs: [workloadRBAC],
  part: 'kubeadm-config',
});
export const kubeletConfig = workloadPart({
  condition: 'WorkloadKubeletConfigReady',
  needs: [workloadRBAC],
  part: 'kubelet-config',
});
