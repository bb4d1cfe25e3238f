import type { ConditionDescription } from '../severity.ts';

/** Conditions that sum up, or that concern the whole HostedControlPlane. */
export const summaryConditions = {
  Ready: {
    meaning: 'everything the spec asks for exists and works; otherwise it has the reason of the condition that blocks',
    reasons: {
      Ready: 'Normal',
      WaitingForCluster: 'Normal',
      ClusterMismatch: 'Warning',
      ForeignControlPlane: 'Warning',
      InvalidConfiguration: 'Warning',
      NamespaceTooLarge: 'Warning',
      // The controller that writes the condition of a gate reports what is wrong.
      ReadinessGate: 'Normal',
    },
  },
  Available: {
    meaning: 'the API server answers; something else may be degraded',
    reasons: { Available: 'Normal', NotAvailable: 'Outage', WakingUp: 'Routine' },
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
    meaning: 'every argument and setting of the spec has an effect',
    // An event of its own reports each component whose arguments are overruled.
    reasons: { Supported: 'Routine', Overruled: 'Routine', TooManyReferences: 'Warning' },
  },
  Deleting: {
    meaning: 'the control plane is being deleted',
    reasons: {
      NotDeleting: 'Routine',
      WaitingForWorkersDeletion: 'Normal',
      WaitingForFinalBackup: 'Normal',
      FinalBackupImpossible: 'Warning',
      WaitingForPods: 'Normal',
      WaitingForVolumes: 'Normal',
      WaitingForSecrets: 'Normal',
    },
  },
  Paused: {
    meaning: 'the operator writes nothing for this cluster but this condition, and an event when it changes',
    reasons: { Paused: 'Normal', NotPaused: 'Routine' },
  },
  Quarantined: {
    meaning:
      'the operator has ended repeatedly while it worked on this control plane, so that a process of its own does what reaches its servers and stores, or all of it',
    reasons: { HostedWorkApart: 'Warning', AllWorkApart: 'Warning', NotQuarantined: 'Routine' },
  },
  SpecAccepted: {
    meaning:
      'the operator has accepted the spec; while it refuses a spec, or when a component did not become ready by it in time, it reconciles the last usable one, whose certificates, etcd and backups it keeps',
    reasons: {
      CheckingConfiguration: 'Routine',
      RevisionFailed: 'Warning',
      AdoptionFailed: 'Warning',
      // True, with the last release that keeps the release revision, and with those that no longer do
      AdoptionDue: 'Warning',
    },
  },
} as const satisfies Readonly<Record<string, ConditionDescription>>;
