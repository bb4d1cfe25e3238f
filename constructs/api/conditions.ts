/** What a condition is about and every reason it may carry, besides the ones all conditions share. */
interface ConditionDescription {
  readonly meaning: string;
  readonly reasons: readonly string[];
}

/** Conditions in the order they are reported: summaries first, then the steps in the order they become true. */
export const conditions = {
  Ready: {
    meaning: 'everything the spec asks for is there and works',
    reasons: ['Ready', 'NotReady', 'WaitingForCluster', 'ClusterMismatch'],
  },
  Available: {
    meaning: 'the API server answers, even if something else is degraded',
    reasons: ['Available', 'NotAvailable'],
  },
  Initialized: {
    meaning: 'the API server has answered once and workers can join',
    reasons: ['Initialized', 'NotInitialized'],
  },
  RollingOut: {
    meaning: 'some API server does not match the spec yet',
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
    meaning: 'every CA is there; a CA lost after initialization is not replaced, for that would cut off all workers',
    reasons: ['Available', 'NotAvailable'],
  },
  EtcdClusterHealthy: {
    meaning: 'etcd has all members, a leader and no alarm',
    reasons: ['Healthy', 'NotHealthy', 'HealthUnknown', 'QuorumLost', 'DataLost', 'SpaceExhausted'],
  },
  ControlPlaneComponentsHealthy: {
    meaning: 'API server, controller manager and scheduler have all the replicas they should have',
    reasons: ['Healthy', 'NotHealthy', 'HealthUnknown'],
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
    meaning: 'the provider writes nothing for this cluster',
    reasons: ['Paused', 'NotPaused'],
  },
  CACertificatesReady: {
    meaning: 'CAs and service-account keys are there',
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
    meaning: "etcd's certificates and that of its client are there and valid",
    reasons: [],
  },
  APIServerServiceReady: {
    meaning: 'the Service of the API server is there and has the address it needs',
    reasons: ['WaitingForLoadBalancerAddress', 'NodePortTaken'],
  },
  SyncControlPlaneEndpointReady: {
    meaning: 'the endpoint is known, and written to where Cluster API and the infrastructure provider look for it',
    reasons: [
      'EndpointMismatch',
      'HostClaimed',
      'GatewayNotFound',
      'GatewayListenerUnsuitable',
      'GatewayAPINotInstalled',
    ],
  },
  APIServerTLSRoutesReady: {
    meaning: 'the routes that lead to the API server are there and accepted; always so for ways in that need none',
    reasons: ['HostClaimed', 'WaitingForRoutes', 'RouteRejected', 'GatewayAPINotInstalled', 'IngressAPINotInstalled'],
  },
  NetworkPoliciesReady: {
    meaning: "the policies that restrict the control plane's traffic are there, unless they are disabled",
    reasons: ['CiliumNotInstalled', 'PolicyInvalid'],
  },
  CertificatesReady: {
    meaning: 'every certificate that is no CA is there and valid',
    reasons: [],
  },
  EtcdClusterReady: {
    meaning: 'etcd serves',
    reasons: [
      'WaitingForMembers',
      'ChangingMembers',
      'RollingOut',
      'VolumeSizeChanged',
      'VolumeNotExpandable',
      'VolumeSizeExhausted',
      'VersionNotAllowed',
      'WaitingForBackup',
    ],
  },
  EtcdRestoreReady: {
    meaning: 'the backup that the spec asks for has been restored; always so when it asks for none',
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
    meaning: 'backups are taken when they are due; always so when none are asked for',
    reasons: ['BackupSecretInvalid', 'StoreUnavailable', 'BackupFailed', 'WaitingForMembers'],
  },
  EtcdBackupVerified: {
    meaning: 'the newest trial restore of a backup went well; always so when none is asked for',
    reasons: ['Verifying', 'BackupUnusable', 'VerificationFailed', 'BackupSecretInvalid', 'StoreUnavailable'],
  },
  EncryptionAtRestReady: {
    meaning: 'every Secret is stored in etcd as the spec says',
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
    meaning: 'no CA is being replaced, nor has to be',
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
    meaning: 'no key of service account tokens is being replaced',
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
    meaning: 'the kubeconfig Secret of the Cluster is there',
    reasons: [],
  },
  APIServerReachable: {
    meaning: 'our own API server, and nobody else, answers at the endpoint',
    reasons: ['EndpointUnreachable'],
  },
  WorkloadRBACReady: {
    meaning: 'the identities of the control plane, and nodes that join, have their rights in the hosted cluster',
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
    meaning: 'no kubelet waits for a certificate to serve with, without which logs and exec do not work on its node',
    reasons: ['WaitingForAPIServer', 'RequestNotApproved'],
  },
  WorkloadSetupReady: {
    meaning: 'workers can join: rights and configuration are there and controllers work',
    reasons: ['WaitingForAPIServer', 'WaitingForControllers'],
  },
  WorkloadKubeProxyReady: {
    meaning: 'kube-proxy is applied in the hosted cluster and runs where there are nodes, unless it is disabled',
    reasons: ['WaitingForAPIServer', 'WaitingForPods'],
  },
  WorkloadCoreDNSReady: {
    meaning: 'CoreDNS is applied in the hosted cluster and runs when there are nodes, unless it is disabled',
    reasons: ['WaitingForAPIServer', 'WaitingForPods'],
  },
  WorkloadKonnectivityReady: {
    meaning:
      'the konnectivity agent is applied in the hosted cluster and runs when there are nodes, unless it is disabled',
    reasons: ['WaitingForAPIServer', 'WaitingForPods'],
  },
  WorkloadInClusterAccessReady: {
    meaning: 'pods of the hosted cluster have a way to their API server',
    reasons: ['WaitingForAPIServer', 'WaitingForPods', 'InClusterAccessNotSupported'],
  },
} as const satisfies Readonly<Record<string, ConditionDescription>>;

/**
 * Conditions that are told by themselves alone: a store of backups that is away, a rotation that takes its time,
 * or a node that asks for what it must not have, says nothing about whether the control plane works.
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

/** True for the types this provider writes; conditions of other types are somebody else's and stay. */
export function isConditionType(type: string): type is ConditionType {
  return Object.hasOwn(conditions, type);
}
