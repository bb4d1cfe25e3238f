import type { ConditionDescription } from '../severity.ts';

/** Conditions of the steps in the management cluster. */
export const controlPlaneConditions = {
  ClocksAgree: {
    meaning:
      "the clocks of the operator's node and of the management API server agree; while they do not, nothing is issued, renewed, deleted or scheduled by the time",
    reasons: { ClockWrong: 'Warning' },
  },
  ClusterNetworkUnchanged: {
    meaning:
      'the networks and the DNS domain of the Cluster are those with which the control plane was initialized; it keeps these',
    reasons: { ClusterNetworkChanged: 'Warning' },
  },
  CACertificatesReady: {
    meaning: 'all CAs and service account keys exist',
    reasons: {
      CACertificateMissing: 'Warning',
      CACertificateInvalid: 'Warning',
      SecretsTerminating: 'Warning',
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
    meaning: 'the routes to the API server exist and are accepted',
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
      RolloutRefused: 'Warning',
      VolumeSizeChanged: 'Warning',
      StorageClassChanged: 'Warning',
      VolumeNotExpandable: 'Warning',
      VolumeSizeExhausted: 'Warning',
      VolumesTerminating: 'Warning',
      VersionNotAllowed: 'Warning',
      WaitingForBackup: 'Normal',
      Hibernated: 'Normal',
      ReconcileSucceeded: 'Normal',
    },
  },
  EtcdRestoreReady: {
    meaning: 'the backup in spec.etcd.restore has been restored',
    reasons: {
      BackupSecretInvalid: 'Warning',
      BackupNotFound: 'Warning',
      BackupUnusable: 'Warning',
      RestoreRefused: 'Warning',
      StoreUnavailable: 'Warning',
      CheckingBackup: 'Normal',
      StoppingAPIServers: 'Normal',
      StoppingMembers: 'Normal',
      RestoringMembers: 'Normal',
      StartingMembers: 'Normal',
      VolumesTerminating: 'Warning',
    },
  },
  NoMovePending: {
    meaning: 'no move to another management cluster is requested, for which the API servers stop',
    reasons: {
      MoveRefused: 'Warning',
      StoppingAPIServers: 'Normal',
      TakingBackup: 'Normal',
      VerifyingBackup: 'Normal',
      PreparedForMove: 'Normal',
      ClaimingData: 'Normal',
      StoreUnavailable: 'Warning',
      MovedAway: 'Warning',
    },
  },
  Awake: {
    meaning: 'the components run; False while spec.hibernate stops them, or has stopped them',
    reasons: {
      HibernationRefused: 'Warning',
      StoppingAPIServers: 'Normal',
      TakingBackup: 'Normal',
      StoppingMembers: 'Normal',
      Hibernated: 'Normal',
    },
  },
  EtcdBackupReady: {
    meaning: 'backups are taken on schedule',
    reasons: {
      BackupSecretInvalid: 'Warning',
      StoreUnavailable: 'Warning',
      BackupFailed: 'Warning',
      BackupFolderShared: 'Warning',
      BackupOverdue: 'Warning',
      WaitingForMembers: 'Routine',
    },
  },
  EtcdBackupVerified: {
    meaning: 'the newest verification of a backup succeeded',
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
  APIServerConfigurationAccepted: {
    meaning:
      "the version's own kube-apiserver accepts the user's flags, token issuers and audit settings; API servers keep those that it accepted last until then",
    reasons: {
      CheckingConfiguration: 'Routine',
      CheckRefused: 'Warning',
      ConfigurationRefused: 'Warning',
      PodsFailing: 'Warning',
    },
  },
  UpgradePreflightSucceeded: {
    meaning:
      'nothing blocks the minor of Kubernetes that the spec asks for; true when its minor does not change. API servers keep their version until then',
    reasons: {
      CheckingUpgrade: 'Routine',
      NodesUnsuitable: 'Warning',
      RemovedAPIsInUse: 'Warning',
      APIServersSilent: 'Warning',
      WebhooksRefuse: 'Warning',
      EtcdNotHealthy: 'Warning',
      BackupNotVerified: 'Warning',
      ConfigurationRefused: 'Warning',
    },
  },
  AuditReady: {
    meaning: 'the API servers have the tokens with which they send audit records',
    reasons: { AuditSecretInvalid: 'Warning' },
  },
  APIServerDeploymentsReady: {
    meaning: 'the API server is rolled out',
    reasons: {
      WaitingForEtcd: 'Routine',
      WaitingForPods: 'Routine',
      PodsFailing: 'Warning',
      WaitingForBackup: 'Normal',
      WaitingForRestore: 'Normal',
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
  UpgradeHoldEnded: {
    meaning:
      'no upgrade waits while binaries of the new minor emulate the minor before, from which it can still go back',
    reasons: { HoldingUpgrade: 'Normal' },
  },
  AdminKubeconfigReady: {
    meaning: 'the kubeconfig Secret of the Cluster exists',
    reasons: {},
  },
  KubeconfigsReady: {
    meaning: 'the kubeconfigs of spec.kubeconfigs are in their Secrets',
    reasons: { SecretNameTaken: 'Warning' },
  },
  APIServerReachable: {
    meaning: 'the API server of this control plane, and no other server, answers at the endpoint',
    reasons: { EndpointUnreachable: 'Outage' },
  },
} as const satisfies Readonly<Record<string, ConditionDescription>>;
