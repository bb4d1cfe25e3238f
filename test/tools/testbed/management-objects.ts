import { corednsObjects } from './coredns-objects.ts';
import type { Instance } from './instance.ts';
import { clusterRoleBinding, type Manifest } from './manifest.ts';
import { provisioner, storageClassName } from './volumes.ts';

/** The objects of the management cluster beside its control plane: DNS, a default StorageClass, kube-proxy's permissions. */
export async function managementObjects(instance: Instance): Promise<Manifest[]> {
  return [...(await corednsObjects(instance)), storageClass(), kubeProxyBinding()];
}

function storageClass(): Manifest {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: storageClassName, annotations },
    provisioner,
    allowVolumeExpansion: true,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
  };
}

function kubeProxyBinding(): Manifest {
  const user = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:kube-proxy' } as const;
  return clusterRoleBinding('testbed:kube-proxy', 'system:node-proxier', user);
}
