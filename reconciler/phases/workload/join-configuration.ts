import { workloadPart } from './part.ts';
import { workloadRBAC } from './rbac.ts';

/** What `kubeadm join` reads, in its order: whom to trust, how the cluster is made, how a kubelet is to run. */
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
