import type { Severity, sharedReasons } from './severity.ts';

/** What a condition means when it is true, and every reason it may have besides `sharedReasons`, with its severity. */
export interface ConditionDescription {
  readonly meaning: string;
  readonly reasons: Readonly<Record<string, Severity>>;
}

/** Conditions in the order they are reported: summaries first, then the steps in the order they become true. */
export const conditions = {
  Ready: {
    meaning: 'everything the spec asks for exists and works; otherwise its reason is that of the condition that blocks',
    reasons: {
      Ready: 'Normal',
      WaitingForCluster: 'Normal',
      ClusterMismatch: 'Warning',
      ForeignControlPlane: 'Warning',
      InvalidConfiguration: 'Warning',
    },
  },
  Available: {
    meaning: 'the API server answers, even if something else is degraded',
    reasons: { Available: 'Normal', NotAvailable: 'Outage' },
  },
  Initialized: {
    meaning: 'the API server has answered once, and workers can join',
    reasons: { Initialized: 'Normal', NotInitialized: 'Routine' },
  },
  RollingOut: {
    meaning: 'at least one API server does not match the spec yet',
    reasons: { RollingOut: 'Routine', NotRollingOut: 'Routine' },
  },
  ScalingUp: {
    meaning: 'API servers are being added',
    reasons: { ScalingUp: 'Routine', NotScalingUp: 'Routine' },
  },
  ScalingDown: {
    meaning: 'API servers are being removed',
    reasons: { ScalingDown: 'Routine', NotScalingDown: 'Routine' },
  },
  CertificatesAvailable: {
    meaning:
      'every CA and certificate exists; the operator does not replace a CA that is lost after initialization, because that would cut off all workers',
    reasons: { Available: 'Routine', NotAvailable: 'Routine' },
  },
  EtcdClusterHealthy: {
    meaning: 'etcd has all members, a leader and no alarm',
    reasons: {
      Healthy: 'Routine',
      NotHealthy: 'Routine',
      HealthUnknown: 'Routine',
      QuorumLost: 'Warning',
      DataLost: 'Warning',
      SpaceExhausted: 'Warning',
      MemberDamaged: 'Warning',
    },
  },
  ControlPlaneComponentsHealthy: {
    meaning: 'API server, controller manager and scheduler have all their replicas',
    reasons: { Healthy: 'Routine', NotHealthy: 'Routine', HealthUnknown: 'Routine' },
  },
  SpecSupported: {
    meaning: 'every field that the spec sets has an effect in this release',
    reasons: { Supported: 'Routine', FieldsWithoutEffect: 'Warning' },
  },
  Deleting: {
    meaning: 'the control plane is being deleted',
    reasons: {
      NotDeleting: 'Routine',
      WaitingForWorkersDeletion: 'Normal',
      WaitingForFinalBackup: 'Normal',
      WaitingForPods: 'Normal',
      WaitingForVolumes: 'Normal',
    },
  },
  Paused: {
    meaning: 'the operator writes nothing for this cluster',
    reasons: { Paused: 'Normal', NotPaused: 'Routine' },
  },
  SpecAccepted: {
    meaning:
      'the operator has accepted the spec; while it refuses a spec, it reconciles the last accepted one, whose certificates, etcd and backups it keeps',
    reasons: {},
  },
  CACertificatesReady: {
    meaning: 'all CAs and service account keys exist',
    reasons: {
      CACertificateMissing: 'Warning',
      CACertificateInvalid: 'Warning',
      WaitingForIssuer: 'Normal',
      TakingOverIdentity: 'Normal',
      BackupSecretInvalid: 'Warning',
      BackupNotFound: 'Warning',
      BackupUnusable: 'Warning',
      StoreUnavailable: 'Warning',
    },
  },
  EtcdCertificatesReady: {
    meaning: 'the certificates of etcd and of its clients exist and are valid',
    reasons: {},
  },
  APIServerServiceReady: {
    meaning: 'the Service of the API server exists and has the address it needs',
    reasons: { WaitingForLoadBalancerAddress: 'Routine', NodePortTaken: 'Warning' },
  },
  SyncControlPlaneEndpointReady: {
    meaning:
      'the endpoint is known, and the operator has written it to where Cluster API and the infrastructure provider read it',
    reasons: {
      EndpointMismatch: 'Warning',
      HostClaimed: 'Warning',
      HostNotAdmitted: 'Warning',
      GatewayNotFound: 'Warning',
      GatewayListenerUnsuitable: 'Warning',
      GatewayAPINotInstalled: 'Warning',
      ReconcileSucceeded: 'Normal',
    },
  },
  APIServerTLSRoutesReady: {
    meaning: 'the routes to the API server exist and are accepted; always true for exposure strategies without routes',
    reasons: {
      HostClaimed: 'Warning',
      WaitingForRoutes: 'Routine',
      RouteRejected: 'Warning',
      GatewayAPINotInstalled: 'Warning',
      IngressAPINotInstalled: 'Warning',
    },
  },
  NetworkPoliciesReady: {
    meaning: 'the policies that restrict the traffic of the control plane exist',
    reasons: { CiliumNotInstalled: 'Warning', PolicyInvalid: 'Warning' },
  },
  CertificatesReady: {
    meaning: 'every leaf certificate exists and is valid',
    reasons: {},
  },
  EtcdClusterReady: {
    meaning: 'etcd serves requests',
    reasons: {
      WaitingForMembers: 'Routine',
      PodsFailing: 'Warning',
      ChangingMembers: 'Normal',
      RollingOut: 'Normal',
      VolumeSizeChanged: 'Warning',
      StorageClassChanged: 'Warning',
      VolumeNotExpandable: 'Warning',
      VolumeSizeExhausted: 'Warning',
      VersionNotAllowed: 'Warning',
      WaitingForBackup: 'Normal',
      ReconcileSucceeded: 'Normal',
    },
  },
  EtcdRestoreReady: {
    meaning: 'the backup in spec.etcd.restore has been restored; always true when the spec asks for none',
    reasons: {
      BackupSecretInvalid: 'Warning',
      BackupNotFound: 'Warning',
      BackupUnusable: 'Warning',
      StoreUnavailable: 'Warning',
      CheckingBackup: 'Normal',
      StoppingAPIServers: 'Normal',
      StoppingMembers: 'Normal',
      RestoringMembers: 'Normal',
      StartingMembers: 'Normal',
    },
  },
  EtcdBackupReady: {
    meaning: 'backups are taken on schedule; always true when the spec asks for none',
    reasons: {
      BackupSecretInvalid: 'Warning',
      StoreUnavailable: 'Warning',
      BackupFailed: 'Warning',
      BackupFolderShared: 'Warning',
      WaitingForMembers: 'Routine',
    },
  },
  EtcdBackupVerified: {
    meaning: 'the newest verification of a backup succeeded; always true when the spec asks for none',
    reasons: {
      BackupUnusable: 'Warning',
      VerificationFailed: 'Warning',
      BackupSecretInvalid: 'Warning',
      StoreUnavailable: 'Warning',
    },
  },
  EncryptionAtRestReady: {
    meaning: 'every Secret is stored in etcd as the spec asks',
    reasons: {
      EncryptionKeysMissing: 'Warning',
      EncryptionKeysInvalid: 'Warning',
      WaitingForAPIServer: 'Routine',
      DistributingKey: 'Normal',
      RewritingSecrets: 'Normal',
      RetiringKey: 'Normal',
    },
  },
  AuditReady: {
    meaning:
      'the API servers have the tokens with which they send audit records; always true when the spec asks for none',
    reasons: { AuditSecretInvalid: 'Warning' },
  },
  APIServerDeploymentsReady: {
    meaning: 'the API server is rolled out',
    reasons: {
      WaitingForEtcd: 'Routine',
      WaitingForPods: 'Routine',
      PodsFailing: 'Warning',
      WaitingForBackup: 'Normal',
      MountMissing: 'Warning',
      ReconcileSucceeded: 'Normal',
    },
  },
  CARotationReady: {
    meaning: 'no CA is being replaced or has to be replaced',
    reasons: {
      DistributingTrust: 'Normal',
      WithdrawingTrust: 'Normal',
      ReissuingCertificates: 'Normal',
      MovingWorkers: 'Normal',
      RetiringTrust: 'Normal',
      WaitingForIssuer: 'Normal',
      CACertificateInvalid: 'Warning',
      CAExpiring: 'Warning',
    },
  },
  ServiceAccountKeyRotationReady: {
    meaning: 'no service account key is being replaced',
    reasons: {
      DistributingTrust: 'Normal',
      WithdrawingTrust: 'Normal',
      ChangingSigner: 'Normal',
      WaitingForTokens: 'Normal',
      RetiringTrust: 'Normal',
      ServiceAccountKeyInvalid: 'Warning',
    },
  },
  ControllerManagerReady: {
    meaning: 'the controller manager is rolled out and works',
    reasons: { WaitingForPods: 'Routine', PodsFailing: 'Warning' },
  },
  SchedulerReady: {
    meaning: 'the scheduler is rolled out',
    reasons: { WaitingForPods: 'Routine', PodsFailing: 'Warning' },
  },
  AdminKubeconfigReady: {
    meaning: 'the kubeconfig Secret of the Cluster exists',
    reasons: {},
  },
  APIServerReachable: {
    meaning: 'the API server of this control plane, and no other server, answers at the endpoint',
    reasons: { EndpointUnreachable: 'Outage' },
  },
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
    meaning: 'no kubelet waits for a serving certificate; without one, logs and exec do not work on its node',
    reasons: { WaitingForAPIServer: 'Routine', RequestNotApproved: 'Warning', HostedClusterTooLarge: 'Warning' },
  },
  WorkloadSetupReady: {
    meaning: 'workers can join: permissions and configuration exist, and the controllers work',
    reasons: { WaitingForAPIServer: 'Routine', WaitingForControllers: 'Routine' },
  },
  WorkloadKubeProxyReady: {
    meaning: 'kube-proxy is applied in the hosted cluster and runs on every node, unless it is disabled',
    reasons: { WaitingForAPIServer: 'Routine', WaitingForPods: 'Routine' },
  },
  WorkloadCoreDNSReady: {
    meaning: 'CoreDNS is applied in the hosted cluster and runs if there are nodes, unless it is disabled',
    reasons: { WaitingForAPIServer: 'Routine', WaitingForPods: 'Routine' },
  },
  WorkloadKonnectivityReady: {
    meaning:
      'the konnectivity agent is applied in the hosted cluster and runs if there are nodes, unless it is disabled',
    reasons: { WaitingForAPIServer: 'Routine', WaitingForPods: 'Routine' },
  },
  WorkloadInClusterAccessReady: {
    meaning: 'pods of the hosted cluster can reach their API server',
    reasons: { WaitingForAPIServer: 'Routine', WaitingForPods: 'Routine', InClusterAccessNotSupported: 'Warning' },
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

export type ConditionType = keyof typeof conditions;

type OwnReason<T extends ConditionType> = T extends ConditionType ? keyof (typeof conditions)[T]['reasons'] : never;

/** A reason a condition of this type may carry. */
export type ConditionReason<T extends ConditionType = ConditionType> = OwnReason<T> | keyof typeof sharedReasons;

/** Every condition type in reporting order. */
export const conditionTypes: readonly ConditionType[] = Object.keys(conditions).filter(isConditionType);

/**
 * True for the types the operator writes. Conditions of other types belong to other writers, and the operator keeps
 * them.
 */
export function isConditionType(type: string): type is ConditionType {
  return Object.hasOwn(conditions, type);
}
