import type { Row } from './row.ts';

/** What core reads of status and conditions. */
export const status = {
  'CP-28': {
    demand:
      'status.initialization.controlPlaneInitialized is true only when the API server answers and workers can join.',
    proofs: [
      ['contract/core.test', 'is readable by core after every write of %s'],
      ['system/demo.test', 'the kubeadm bootstrap provider creates the bootstrap data of a machine'],
    ],
  },
  'CP-29': {
    demand: 'status.initialized and status.ready are read under the contract v1beta1.',
    notApplicable: 'the kinds implement v1beta2; status.ready is for older tools',
    proofs: [['constructs/api/crd.test', 'have no field that only older contracts read, apart from status.ready']],
  },
  'CP-30': {
    demand: 'Initialized never becomes false again, and a lost status is computed again without another bring-up.',
    proofs: [
      ['contract/core.test', 'is readable by core after every write of %s'],
      ['contract/core.test', 'reports the same again when its status was lost, and changes nothing else'],
    ],
  },
  'CP-31': {
    demand: 'spec.version is a version with or without v, whose spelling the provider never changes.',
    proofs: [
      ['constructs/api/admission-cases', 'accepts a version without the leading v'],
      ['reconciler/reconcile/admit.test', 'keeps the spelling of the version, which Cluster API compares as text'],
    ],
  },
  'CP-32': {
    demand: 'status.versions lists the versions of the API servers with their numbers, oldest first.',
    proofs: [
      ['contract/core.test', 'is readable by core after every write of %s'],
      [
        'reconciler/reconcile/status/observed-status.test',
        'are counted oldest first %s, and the oldest one is the version',
      ],
      ['system/demo.test', 'the kubeadm bootstrap provider creates the bootstrap data of a machine'],
    ],
  },
  'CP-33': {
    demand: 'status.version is the oldest version of an API server that may still answer, and never the new one early.',
    proofs: [
      ['contract/core.test', 'is upgraded for core no earlier than its last old API server is gone'],
      ['reconciler/reconcile/status/observed-status.test', 'while the last old one terminates'],
    ],
  },
  'CP-34': {
    demand: 'spec.replicas has a default, and zero is legal or refused.',
    proofs: [
      ['constructs/api/admission-cases', 'refuses zero API servers'],
      ['cluster/api/cluster-api.test', 'scales through the scale subresource'],
    ],
  },
  'CP-35': {
    demand: 'The four counters of replicas are numbers, also when they are zero.',
    proofs: [
      ['contract/core.test', 'is readable by core after every write of %s'],
      ['reconciler/reconcile/status/observed-status.test', 'count API servers, with zeros if there is no Deployment'],
      [
        'reconciler/reconcile/status/observed-status.test',
        'counts no API server as up to date before the version of the spec is rendered',
      ],
      ['system/demo.test', 'is Available for Cluster API'],
    ],
  },
  'CP-36': {
    demand: 'status.updatedReplicas and status.unavailableReplicas are read under the contract v1beta1.',
    notApplicable: 'the kinds implement v1beta2',
    proofs: [['constructs/api/crd.test', 'have no field that only older contracts read, apart from status.ready']],
  },
  'CP-37': {
    demand: 'status.selector selects exactly the pods of the API server.',
    proofs: [['contract/core.test', 'counts by its selector the API servers that its counters have']],
  },
  'CP-38': {
    demand: 'status.externalManagedControlPlane is true, or core neither drains workers nor deletes their Nodes.',
    proofs: [
      ['contract/core.test', 'is readable by core after every write of %s'],
      [
        'system/demo.test',
        'a machine that joins with it becomes the Node of its Machine, without taint, which goes with its Machine',
      ],
    ],
  },
  'CP-39': {
    demand: 'status.observedGeneration is the generation about which the provider has decided.',
    proofs: [['reconciler/reconcile/reconciler.test', 'reports for what generation it has computed what']],
  },
  'CP-40': {
    demand: 'spec.machineTemplate is accepted without effect, and no object has the label of control plane Machines.',
    proofs: [
      ['scenarios/refusals/attended.test', 'a change that concerns only Machines makes no new record'],
      ['contract/core.test', 'has no object that core takes for a control plane Machine'],
    ],
  },
  'CP-41': {
    demand: 'spec.rollout.after restarts all pods once when its time has come.',
    proofs: [
      ['reconciler/reconcile/reconcile-normal.test', 'restarts them when it is due if it is in the future'],
      [
        'reconciler/reconcile/reconcile-normal.test',
        'restarts all pods at once and only once if it is in the past, the API server first, and one etcd member at a time',
      ],
    ],
  },
  'CP-42': {
    demand: 'A provider with Machines states whether it updates them in place.',
    notApplicable: 'a hosted control plane has no Machines',
  },
  'CP-43': {
    demand: 'Pods are spread over nodes and zones of the management cluster, and have disruption budgets.',
    proofs: [
      ['invariants.test', 'allows a drain to evict one pod at a time of a component with several, and blocks no other'],
      ['invariants.test', 'is selected by its own workload and spread constraints, and by one workload only'],
    ],
  },
  'CP-44': {
    demand: 'Labels and annotations of the control plane and of spec.machineTemplate never restart a pod.',
    proofs: [
      ['contract/topology.test', 'restarts nothing for another label or annotation, and keeps both'],
      [
        'constructs/pod/overlay.test',
        'as a default is on every pod in the management cluster, and on none in the hosted cluster',
      ],
    ],
  },
  'CP-45': {
    demand: 'Every condition has type, status, reason and time as metav1.Condition has.',
    proofs: [
      ['contract/core.test', 'is readable by core after every write of %s'],
      ['constructs/api/conditions.test', 'have types and reasons in the format that Kubernetes requires'],
      ['cluster/api/cluster-api.test', 'accepts the whole status of the contract'],
    ],
  },
  'CP-46': {
    demand: 'Available is True while the control plane serves, also during a rollout.',
    proofs: [
      ['reconciler/reconcile/status/summaries.test', 'a rollout is in progress'],
      ['system/demo.test', 'is Available for Cluster API'],
    ],
  },
  'CP-47': {
    demand: 'RollingOut, ScalingUp and ScalingDown are True only while that happens.',
    proofs: [
      ['contract/core.test', 'is upgraded for core no earlier than its last old API server is gone'],
      ['contract/core.test', 'is scaled for core while its number of API servers differs'],
      ['reconciler/reconcile/status/summaries.test', 'compare the number of API servers with %s'],
    ],
  },
  'CP-48': {
    demand: 'CertificatesAvailable is False when a CA is missing.',
    proofs: [['reconciler/reconcile/status/summaries.test', 'set CertificatesAvailable when %s']],
  },
  'CP-49': {
    demand: 'EtcdClusterHealthy, ControlPlaneComponentsHealthy and Initialized report the parts.',
    proofs: [
      ['reconciler/reconcile/status/summaries.test', 'set EtcdClusterHealthy when %s'],
      ['reconciler/reconcile/status/summaries.test', 'set ControlPlaneComponentsHealthy when %s'],
      ['reconciler/reconcile/status/summaries.test', 'set Initialized once and keep it'],
    ],
  },
  'CP-50': {
    demand: 'Deleting is True with a reason while a deletion waits.',
    proofs: [
      ['reconciler/reconcile/reconcile-delete.test', 'keeps its API server while a $kind exists, and is requeued'],
      [
        'reconciler/reconcile/status/summaries.test',
        'keep the conditions of the phases, and set neither Deleting nor Paused',
      ],
    ],
  },
  'CP-51': {
    demand: 'Ready summarizes the phases.',
    proofs: [
      ['reconciler/reconcile/status/summaries.test', 'set Ready when %s'],
      ['system/demo.test', 'has every condition in its expected state'],
    ],
  },
  'CP-52': {
    demand: 'The Cluster becomes Available through its control plane, the kubeconfig and the endpoint.',
    proofs: [['system/demo.test', 'is Available for Cluster API']],
  },
  'CP-53': {
    demand: 'Conditions of the provider have stable reasons and order, and are written on a change only.',
    proofs: [
      [
        'reconciler/reconcile/status/writer.test',
        'writes nothing if nothing has changed, whatever conditions others have added',
      ],
      ['constructs/api/conditions.test', 'declare a severity for each reason, of their own or shared by all'],
      ['system/demo.test', 'is stable: its operator has written nothing while others only read'],
    ],
  },
  'CP-54': {
    demand: 'There are no terminal failures: the status has neither failureReason nor failureMessage.',
    proofs: [['constructs/api/crd.test', 'have no field that only older contracts read, apart from status.ready']],
  },
} as const satisfies Readonly<Record<string, Row>>;
