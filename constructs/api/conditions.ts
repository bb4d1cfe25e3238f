/** What a condition means when it is true, and every reason it may have besides `sharedReasons`. */
interface ConditionDescription {
  readonly meaning: string;
  readonly reasons: readonly string[];
}

/** Conditions in the order they are reported: summaries first, then the steps in the order they become true. */
export const conditions = {
  Ready: {
    meaning: 'everything the spec asks for exists and works',
    reasons: ['Ready', 'NotReady', 'WaitingForCluster', 'ClusterMismatch'],
  },
  Available: {
    meaning: 'the API server answers, even if something else is degraded',
    reasons: ['Available', 'NotAvailable'],
  },
  Initialized: {
    meaning: 'the API server has answered once, and workers can join',
    reasons: ['Initialized', 'NotInitialized'],
  },
  RollingOut: {
    meaning: 'at least one API server does not match the spec yet',
    reasons: ['RollingOut', 'NotRollingOut'],
  },
  ScalingUp: {
    meaning: 'API servers are being added',
    reasons: ['ScalingUp', 'NotScalingUp'],
  },
  ScalingDown: {
    meaning: 'API servers are being removed',
    reasons: ['ScalingDown', 'NotScalingDown'],
  },
  CertificatesAvailable: {
    meaning:
      'every CA and certificate exists; the operator does not replace a CA that is lost after initialization, because that would cut off all workers',
    reasons: ['Available', 'NotAvailable'],
  },
  EtcdClusterHealthy: {
    meaning: 'etcd has all members, a leader and no alarm',
    reasons: ['Healthy', 'NotHealthy', 'HealthUnknown', 'QuorumLost', 'DataLost', 'SpaceExhausted'],
  },
  ControlPlaneComponentsHealthy: {
    meaning: 'API server, controller manager and scheduler have all their replicas',
    reasons: ['Healthy', 'NotHealthy', 'HealthUnknown'],
  },
  SpecSupported: {
    meaning: 'every field that the spec sets has an effect in this release',
    reasons: ['Supported', 'FieldsWithoutEffect'],
  },
  Deleting: {
    meaning: 'the control plane is being deleted',
    reasons: [
      'NotDeleting',
      'WaitingForWorkersDeletion',
      'WaitingForFinalBackup',
      'WaitingForPods',
      'WaitingForVolumes',
    ],
  },
  Paused: {
    meaning: 'the operator writes nothing for this cluster',
    reasons: ['Paused', 'NotPaused'],
  },
  CACertificatesReady: {
    meaning: 'all CAs and service account keys exist',
    reasons: [
      'CACertificateMissing',
      'CACertificateInvalid',
      'WaitingForIssuer',
      'TakingOverIdentity',
      'BackupSecretInvalid',
      'BackupNotFound',
      'BackupUnusable',
      'StoreUnavailable',
    ],
  },
  EtcdCertificatesReady: {
    meaning: 'the certificates of etcd and of its clients exist and are valid',
    reasons: [],
  },
  APIServerServiceReady: {
    meaning: 'the Service of the API server exists and has the address it needs',
    reasons: ['WaitingForLoadBalancerAddress', 'NodePortTaken'],
  },
  SyncControlPlaneEndpointReady: {
    meaning:
      'the endpoint is known, and the operator has written it to where Cluster API and the infrastructure provider read it',
    reasons: [
      'EndpointMismatch',
      'HostClaimed',
      'GatewayNotFound',
      'GatewayListenerUnsuitable',
      'GatewayAPINotInstalled',
    ],
  },
  APIServerTLSRoutesReady: {
    meaning: 'the routes to the API server exist and are accepted; always true for exposure strategies without routes',
    reasons: ['HostClaimed', 'WaitingForRoutes', 'RouteRejected', 'GatewayAPINotInstalled', 'IngressAPINotInstalled'],
  },
  NetworkPoliciesReady: {
    meaning: 'the policies that restrict the traffic of the control plane exist, unless they are disabled',
    reasons: ['CiliumNotInstalled', 'PolicyInvalid'],
  },
  CertificatesReady: {
    meaning: 'every leaf certificate exists and is valid',
    reasons: [],
  },
  EtcdClusterReady: {
    meaning: 'etcd serves requests',
    reasons: [
      'WaitingForMembers',
      'ChangingMembers',
      'RollingOut',
      'VolumeSizeChanged',
      'StorageClassChanged',
      'VolumeNotExpandable',
      'VolumeSizeExhausted',
      'VersionNotAllowed',
      'WaitingForBackup',
    ],
  },
  EtcdRestoreReady: {
    meaning: 'the backup in spec.etcd.restore has been restored; always true when the spec asks for none',
    reasons: [
      'BackupSecretInvalid',
      'BackupNotFound',
      'BackupUnusable',
      'StoreUnavailable',
      'CheckingBackup',
      'StoppingAPIServers',
      'StoppingMembers',
      'RestoringMembers',
      'StartingMembers',
    ],
  },
  EtcdBackupReady: {
    meaning: 'backups are taken on schedule; always true when the spec asks for none',
    reasons: ['BackupSecretInvalid', 'StoreUnavailable', 'BackupFailed', 'WaitingForMembers'],
  },
  EtcdBackupVerified: {
    meaning: 'the newest verification of a backup succeeded; always true when the spec asks for none',
    reasons: ['Verifying', 'BackupUnusable', 'VerificationFailed', 'BackupSecretInvalid', 'StoreUnavailable'],
  },
  EncryptionAtRestReady: {
    meaning: 'every Secret is stored in etcd as the spec asks',
    reasons: [
      'EncryptionKeysMissing',
      'EncryptionKeysInvalid',
      'WaitingForAPIServer',
      'DistributingKey',
      'RewritingSecrets',
      'RetiringKey',
    ],
  },
  APIServerDeploymentsReady: {
    meaning: 'the API server is rolled out',
    reasons: ['WaitingForEtcd', 'WaitingForPods', 'WaitingForBackup', 'MountMissing'],
  },
  CARotationReady: {
    meaning: 'no CA is being replaced or has to be replaced',
    reasons: [
      'DistributingTrust',
      'WithdrawingTrust',
      'ReissuingCertificates',
      'MovingWorkers',
      'RetiringTrust',
      'WaitingForIssuer',
      'CACertificateInvalid',
      'CAExpiring',
    ],
  },
  ServiceAccountKeyRotationReady: {
    meaning: 'no service account key is being replaced',
    reasons: [
      'DistributingTrust',
      'WithdrawingTrust',
      'ChangingSigner',
      'WaitingForTokens',
      'RetiringTrust',
      'ServiceAccountKeyInvalid',
    ],
  },
  ControllerManagerReady: {
    meaning: 'the controller manager is rolled out and works',
    reasons: ['WaitingForPods'],
  },
  SchedulerReady: {
    meaning: 'the scheduler is rolled out',
    reasons: ['WaitingForPods'],
  },
  AdminKubeconfigReady: {
    meaning: 'the kubeconfig Secret of the Cluster exists',
    reasons: [],
  },
  APIServerReachable: {
    meaning: 'the API server of this control plane, and no other server, answers at the endpoint',
    reasons: ['EndpointUnreachable'],
  },
  WorkloadRBACReady: {
    meaning: 'the control plane components and joining nodes have their permissions in the hosted cluster',
    reasons: ['WaitingForAPIServer'],
  },
  WorkloadClusterInfoReady: {
    meaning: 'kubeadm join finds the endpoint and the CA in kube-public/cluster-info',
    reasons: ['WaitingForAPIServer'],
  },
  WorkloadKubeadmConfigReady: {
    meaning: 'kubeadm join finds kube-system/kubeadm-config',
    reasons: ['WaitingForAPIServer'],
  },
  WorkloadKubeletConfigReady: {
    meaning: 'kubeadm join finds kube-system/kubelet-config',
    reasons: ['WaitingForAPIServer'],
  },
  WorkloadKubeletCertificatesReady: {
    meaning: 'no kubelet waits for a serving certificate; without one, logs and exec do not work on its node',
    reasons: ['WaitingForAPIServer', 'RequestNotApproved'],
  },
  WorkloadSetupReady: {
    meaning: 'workers can join: permissions and configuration exist, and the controllers work',
    reasons: ['WaitingForAPIServer', 'WaitingForControllers'],
  },
  WorkloadKubeProxyReady: {
    meaning: 'kube-proxy is applied in the hosted cluster and runs on every node, unless it is disabled',
    reasons: ['WaitingForAPIServer', 'WaitingForPods'],
  },
  WorkloadCoreDNSReady: {
    meaning: 'CoreDNS is applied in the hosted cluster and runs if there are nodes, unless it is disabled',
    reasons: ['WaitingForAPIServer', 'WaitingForPods'],
  },
  WorkloadKonnectivityReady: {
    meaning:
      'the konnectivity agent is applied in the hosted cluster and runs if there are nodes, unless it is disabled',
    reasons: ['WaitingForAPIServer', 'WaitingForPods'],
  },
  WorkloadInClusterAccessReady: {
    meaning: 'pods of the hosted cluster can reach their API server',
    reasons: ['WaitingForAPIServer', 'WaitingForPods', 'InClusterAccessNotSupported'],
  },
} as const satisfies Readonly<Record<string, ConditionDescription>>;

/**
 * Conditions that do not affect Ready. The control plane works while a backup store is unreachable, while a rotation is
 * in progress, and when a kubelet requests a certificate that it must not have.
 */
export const apartFromReady: readonly ConditionType[] = [
  'EtcdBackupReady',
  'EtcdBackupVerified',
  'CARotationReady',
  'ServiceAccountKeyRotationReady',
  'WorkloadKubeletCertificatesReady',
];

/** Reasons any condition may carry. */
export const sharedReasons = [
  'ReconcileSucceeded',
  'ReconcileFailed',
  'InvalidConfiguration',
  'WaitingForOtherPhases',
  'Deleting',
] as const;

export type ConditionType = keyof typeof conditions;

/** A reason a condition of this type may carry. */
export type ConditionReason<T extends ConditionType = ConditionType> =
  | (typeof conditions)[T]['reasons'][number]
  | (typeof sharedReasons)[number];

/** Every condition type in reporting order. */
export const conditionTypes: readonly ConditionType[] = Object.keys(conditions).filter(isConditionType);

/**
 * True for the types the operator writes. Conditions of other types belong to other writers, and the operator keeps
 * them.
 */
export function isConditionType(type: string): type is ConditionType {
  return Object.hasOwn(conditions, type);
}
