import { apiServer } from '../phases/api-server.ts';
import { acceptedSpec } from '../phases/accepted-spec.ts';
import { apiServerConfiguration } from '../phases/api-server-configuration.ts';
import { audit } from '../phases/audit.ts';
import { apiServerService } from '../phases/api-server-service.ts';
import { caCertificates } from '../phases/ca-certificates.ts';
import { backup } from '../phases/backup.ts';
import { caRotation } from '../phases/ca-rotation.ts';
import { certificates, etcdCertificates } from '../phases/certificates.ts';
import { clock } from '../phases/clock.ts';
import { clusterNetwork } from '../phases/cluster-network.ts';
import { controllerManager, scheduler } from '../phases/controllers.ts';
import { declaredKubeconfigs } from '../phases/declared-kubeconfigs.ts';
import { encryptionAtRest } from '../phases/encryption-at-rest.ts';
import { endpoint } from '../phases/endpoint.ts';
import { etcd } from '../phases/etcd.ts';
import { hibernation } from '../phases/hibernation.ts';
import { kubeconfig } from '../phases/kubeconfig.ts';
import { move } from '../phases/move.ts';
import { networkPolicies } from '../phases/network-policies.ts';
import { reachable } from '../phases/reachable.ts';
import { restore } from '../phases/restore.ts';
import { routes } from '../phases/routes.ts';
import { serviceAccountKeyRotation } from '../phases/service-account-key-rotation.ts';
import { upgradeHold } from '../phases/upgrade-hold.ts';
import { upgradePreflight } from '../phases/upgrade-preflight.ts';
import { verification } from '../phases/verification.ts';
import { coreDNS, inClusterAccess, konnectivityAgent, kubeProxy, serviceAccess } from '../phases/workload/add-ons.ts';
import { clusterInfo, kubeadmConfig, kubeletConfig } from '../phases/workload/join-configuration.ts';
import { kubeletServingCertificates } from '../phases/workload/kubelet-serving-certificates.ts';
import { workloadRBAC } from '../phases/workload/rbac.ts';
import { workload } from '../phases/workload/setup.ts';
import type { AnyPhase } from '../phases/scope.ts';

/** Every phase of a control plane. Their needs determine the order; the order of this list is only for readers. */
export const phases: readonly AnyPhase[] = [
  acceptedSpec,
  clock,
  clusterNetwork,
  networkPolicies,
  caCertificates,
  etcdCertificates,
  restore,
  etcd,
  move,
  hibernation,
  backup,
  verification,
  apiServerService,
  endpoint,
  routes,
  certificates,
  encryptionAtRest,
  kubeconfig,
  declaredKubeconfigs,
  apiServerConfiguration,
  upgradePreflight,
  audit,
  apiServer,
  controllerManager,
  scheduler,
  upgradeHold,
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
  serviceAccess,
  workload,
  caRotation,
  serviceAccountKeyRotation,
];
