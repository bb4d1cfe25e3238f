import { apiServer } from './api-server.ts';
import { apiServerService } from './api-server-service.ts';
import { caCertificates } from './ca-certificates.ts';
import { backup } from './backup.ts';
import { caRotation } from './ca-rotation.ts';
import { certificates, etcdCertificates } from './certificates.ts';
import { controllerManager, scheduler } from './controllers.ts';
import { encryptionAtRest } from './encryption-at-rest.ts';
import { endpoint } from './endpoint.ts';
import { etcd } from './etcd.ts';
import { kubeconfig } from './kubeconfig.ts';
import { networkPolicies } from './network-policies.ts';
import { reachable } from './reachable.ts';
import { restore } from './restore.ts';
import { routes } from './routes.ts';
import { serviceAccountKeyRotation } from './service-account-key-rotation.ts';
import { verification } from './verification.ts';
import { coreDNS, inClusterAccess, konnectivityAgent, kubeProxy } from './workload/add-ons.ts';
import { clusterInfo, kubeadmConfig, kubeletConfig } from './workload/join-configuration.ts';
import { kubeletServingCertificates } from './workload/kubelet-serving-certificates.ts';
import { workloadRBAC } from './workload/rbac.ts';
import { workload } from './workload/setup.ts';
import type { Phase } from './scope.ts';

/** Every phase of a control plane. Their needs determine the order; the order of this list is only for readers. */
export const phases: readonly Phase[] = [
  networkPolicies,
  caCertificates,
  etcdCertificates,
  restore,
  etcd,
  backup,
  verification,
  apiServerService,
  endpoint,
  routes,
  certificates,
  encryptionAtRest,
  kubeconfig,
  apiServer,
  controllerManager,
  scheduler,
  reachable,
  workloadRBAC,
  clusterInfo,
  kubeadmConfig,
  kubeletConfig,
  kubeletServingCertificates,
  kubeProxy,
  coreDNS,
  konnectivityAgent,
  inClusterAccess,
  workload,
  caRotation,
  serviceAccountKeyRotation,
];
