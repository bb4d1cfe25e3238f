import type { Row } from './row.ts';

/** The kubeconfig, the CAs, and the deletion. */
export const secrets = {
  'CP-55': {
    demand: 'Secret `<cluster>-kubeconfig` has the type, the label and the key by which core finds it.',
    proofs: [
      [
        'reconciler/phases/kubeconfig.test',
        'is a Secret as Cluster API expects it, with the content of its own provider',
      ],
      ['system/demo.test', 'is Available for Cluster API'],
    ],
  },
  'CP-56': {
    demand: 'The kubeconfig contains the endpoint, the CA and a client certificate, without plugins.',
    proofs: [
      [
        'reconciler/phases/kubeconfig.test',
        'is a Secret as Cluster API expects it, with the content of its own provider',
      ],
      ['system/demo.test', 'the demo ends with a worker whose pods answer'],
    ],
  },
  'CP-57': {
    demand: 'The kubeconfig grants everything that core does in the hosted cluster.',
    proofs: [
      [
        'constructs/control-plane/certificates/identities.test',
        'only the certificate of the break-glass administrator is in a group',
      ],
      [
        'system/demo.test',
        'a machine that joins with it becomes the Node of its Machine, without taint, which goes with its Machine',
      ],
    ],
  },
  'CP-58': {
    demand: 'The client certificate in the kubeconfig is renewed in place at about half of its lifetime.',
    proofs: [
      [
        'reconciler/phases/kubeconfig.test',
        'waits until its renewal, which changes nothing but the client certificate',
      ],
      [
        'reconciler/pki/pki.test',
        'renewal starts between 50 and 60 % of the lifetime, at a time that depends on the identity only',
      ],
      ['simulation/years.test', 'never expire and always verify in ten years without any action'],
    ],
  },
  'CP-59': {
    demand: 'The control plane controls the kubeconfig Secret, and one of a user stays as it is.',
    proofs: [
      [
        'reconciler/phases/kubeconfig.test',
        'is a Secret as Cluster API expects it, with the content of its own provider',
      ],
      ['reconciler/phases/kubeconfig.test', 'of a user is not changed: %s'],
    ],
  },
  'CP-60': {
    demand: 'Users get kubeconfigs of their own.',
    proofs: [['cluster/cli/kubeconfig.test', 'gives a person a kubeconfig of their own, who may read no Secret']],
  },
  'CP-61': {
    demand:
      'The Secrets of CAs and of the service account key have the names, types, labels and keys of the convention.',
    proofs: [
      [
        'reconciler/phases/ca-certificates.test',
        'are created once, where bootstrap providers expect them, owned by the HostedControlPlane',
      ],
    ],
  },
  'CP-62': {
    demand: '`<cluster>-ca` has certificate and key, and both certificates while the CA is replaced.',
    proofs: [
      [
        'reconciler/phases/ca-certificates.test',
        'are created once, where bootstrap providers expect them, owned by the HostedControlPlane',
      ],
      [
        'reconciler/certificates/ca-rotation.test',
        'keeps both CAs in the Secret that bootstrap providers pin, as long as workers may present either',
      ],
      ['system/demo.test', 'the kubeadm bootstrap provider creates the bootstrap data of a machine'],
    ],
  },
  'CP-63': {
    demand: 'A CA of a user is used as it is.',
    proofs: [['reconciler/phases/ca-certificates.test', 'CA is used and labelled, and not changed otherwise']],
  },
  'CP-64': {
    demand: 'A CA that is missing after initialization is never replaced.',
    proofs: [
      ['reconciler/phases/ca-certificates.test', 'block the phase when %s is gone after workers may have joined'],
      [
        'cluster/reconciler/faults.test',
        'a lost CA certificate blocks the reconcile and is not replaced; when it is restored, the reconcile continues',
      ],
    ],
  },
  'CP-65': {
    demand: 'CAs live for ten years and leaf certificates for one.',
    proofs: [
      [
        'reconciler/phases/ca-certificates.test',
        'live as long as the spec says, the cluster CA longer than the others',
      ],
      ['system/demo.test', 'has every certificate as planned, for a year and for ten'],
    ],
  },
  'CP-66': {
    demand: 'No key is in a log, an event, a condition or an annotation.',
    proofs: [
      [
        'scenarios/secrets-and-rights/private-keys.test',
        'is never reported while a control plane is created, fails, is damaged and renewed',
      ],
      ['scenarios/secrets-and-rights/private-keys.test', 'is stored in Secrets only'],
    ],
  },
  'CP-70': {
    demand: 'The control plane serves until core, which has deleted all workers, deletes it.',
    proofs: [
      ['system/demo.test', 'core deletes the control plane when no Machine is left'],
      ['contract/deletion.test', 'serves while its Cluster is being deleted, until it is deleted too'],
      ['system/demo.test', 'leaves nothing when its Cluster is deleted'],
    ],
  },
  'CP-71': {
    demand: 'The finalizer is there before anything is created, and until everything is gone.',
    proofs: [
      ['reconciler/reconcile/reconciler.test', 'is created in an order that is fast and safe'],
      [
        'reconciler/reconcile/reconcile-delete.test',
        'is gone after everything that was created for it, its volumes included',
      ],
    ],
  },
  'CP-72': {
    demand: 'A control plane that is deleted before its workers waits for them, and serves meanwhile.',
    proofs: [
      ['reconciler/reconcile/reconcile-delete.test', 'keeps its API server while a $kind exists, and is requeued'],
      [
        'reconciler/reconcile/reconcile-delete.test',
        'keeps its API server while workers exist, also if its Cluster is deleted at the same time, as by kubectl delete -f',
      ],
      [
        'reconciler/reconcile/reconcile-delete.test',
        'is still reconciled while workers exist, by the last accepted spec if the newest is refused',
      ],
      ['reconciler/clusters/management/writer.test', 'a MachineDeployment without Machines'],
    ],
  },
  'CP-73': {
    demand: 'The deletion proceeds from routes to volumes, and continues wherever it was interrupted.',
    proofs: [
      [
        'reconciler/reconcile/reconcile-delete.test',
        'releases its host names before any step that takes time, because another cluster may request them',
      ],
      ['scenarios/outages/killed.test', 'an operator that crashes at any write of a deletion %s'],
      ['contract/deletion.test', 'is deleted without a trace although its Cluster is gone'],
      ['contract/deletion.test', 'is not available for core any more once its API servers are deleted'],
    ],
  },
  'CP-74': {
    demand: 'Volumes of etcd are deleted or retained as the spec says, and never with their owner.',
    proofs: [
      [
        'reconciler/reconcile/reconcile-delete.test',
        'leaves the volumes of etcd if they are to be retained: they are the only copy of the data',
      ],
      ['contract/move.test', 'loses no volume of etcd with its owner'],
    ],
  },
} as const satisfies Readonly<Record<string, Row>>;
