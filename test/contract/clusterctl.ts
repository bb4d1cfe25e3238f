import type { Row } from './row.ts';

/** Installation, upgrade, deletion and move by clusterctl. */
export const clusterctl = {
  'CP-110': {
    demand: 'A release is a folder with control-plane-components.yaml and metadata.yaml that clusterctl installs.',
    proofs: [
      ['distribution.test', 'contains %s as the constructs render it'],
      [
        'constructs/provider/repository.test',
        'a release has components, metadata and templates, with the image that is given',
      ],
      [
        'full/system/operator-as-pod.test',
        'keeps its containers while clusterctl upgrades, deletes and installs the operator',
      ],
    ],
  },
  'CP-111': {
    demand: 'metadata.yaml names every release series with its contract, those of older releases included.',
    proofs: [
      ['constructs/provider/chart.test', 'names every series up to this release and the contract of its definitions'],
    ],
  },
  'CP-112': {
    demand: 'The components have one namespace and a Deployment whose container is named manager.',
    proofs: [
      [
        'constructs/provider/chart.test',
        'has one namespace, which comes first and contains everything that is namespaced',
      ],
      ['constructs/provider/chart.test', 'is one Deployment with the container name that clusterctl expects'],
    ],
  },
  'CP-113': {
    demand: 'The components contain no dollar sign that clusterctl would replace.',
    proofs: [['constructs/provider/chart.test', 'contains nothing that clusterctl would treat as a variable']],
  },
  'CP-114': {
    demand: 'A release may contain templates of clusters and classes.',
    proofs: [
      ['constructs/stacks/clusterctl/templates.test', 'templates have names that clusterctl looks for'],
      ['system/demo.test', 'is Available for Cluster API'],
      ['full/system/operator-as-pod.test', 'behind a Gateway are accepted by Cluster API and this provider'],
      [
        'full/system/operator-as-pod.test',
        'of a ClusterClass are a class that Cluster API accepts, and a Cluster that has its defaults',
      ],
    ],
  },
  'CP-115': {
    demand: 'An upgrade loses nothing, although it replaces everything but definitions and namespace.',
    proofs: [
      [
        'full/system/operator-as-pod.test',
        'keeps its containers while clusterctl upgrades, deletes and installs the operator',
      ],
      ['contract/move.test', 'has all its state in its own namespace'],
      ['constructs/provider/access.test', 'reach Leases and its own pod in its own namespace only'],
    ],
  },
  'CP-116': {
    demand: 'clusterctl delete keeps the control planes.',
    proofs: [
      [
        'full/system/operator-as-pod.test',
        'keeps its containers while clusterctl upgrades, deletes and installs the operator',
      ],
    ],
  },
  'CP-120': {
    demand: 'The label clusterctl.cluster.x-k8s.io on the CRDs lets a move find their objects.',
    proofs: [
      ['constructs/api/crd.test', 'carry the labels of provider, contract and clusterctl: $spec.names.kind'],
      ['soak/move.test', 'clusterctl saves a prepared control plane, whose API servers stay stopped where they were'],
    ],
  },
  'CP-121': {
    demand: 'A move takes every Secret and ConfigMap that the control plane needs.',
    proofs: [
      ['contract/move.test', 'takes every Secret and ConfigMap of the operator along'],
      ['reconciler/cli/move.test', 'labels what clusterctl can take along, and says what it cannot'],
    ],
  },
  'CP-122': {
    demand: 'A move begins only with an initialized control plane whose Machines have Nodes.',
    proofs: [
      ['contract/core.test', 'is readable by core after every write of %s'],
      ['soak/move.test', 'clusterctl saves a prepared control plane, whose API servers stay stopped where they were'],
    ],
  },
  'CP-123': {
    demand: 'After a move the status is computed again, and no empty etcd is founded.',
    proofs: [
      ['reconciler/etcd/formation.test', 'keeps members of an object from elsewhere from founding an empty etcd: %s'],
      ['contract/core.test', 'reports the same again when its status was lost, and changes nothing else'],
    ],
  },
  'CP-124': {
    demand: 'A move waits while it would leave the data of etcd behind.',
    proofs: [
      ['soak/move.test', 'clusterctl waits for the preparation of a control plane, and copies nothing before'],
      ['reconciler/etcd/formation.test', 'is written on the object, which clusterctl must not move from then on'],
      ['contract/core.test', 'is readable by core after every write of %s'],
      ['contract/move.test', 'loses no volume of etcd with its owner'],
      ['scenarios/move/move.test', 'blocks clusterctl until it is prepared'],
      [
        'scenarios/move/move.test',
        'stops, names the backup with all its data, and lets clusterctl go on, whenever the operator crashes',
      ],
      ['scenarios/move/move.test', 'serves in one only, while both act and crash'],
    ],
  },
  'CP-125': {
    demand: 'On both sides of a move the provider leaves paused objects as they are.',
    proofs: [['contract/paused.test', 'only reports that it is paused, from its creation on, until it is resumed: %s']],
  },
  'CP-126': {
    demand: 'Instances share control planes by namespace, or by the label watch-filter.',
    proofs: [
      ['full/cluster/reconciler/shards.test', '%s writes objects of %s only, as the audit log says'],
      [
        'full/cluster/reconciler/shards.test',
        'operators with different --namespace ask for nothing in the namespace of the other one',
      ],
      ['reconciler/operator/config.test', '--watch-filter=shard-1'],
      ['contract/shards.test', 'is reconciled by the operator of its shard only, also when it changes'],
      [
        'constructs/provider/access.test',
        'come from a Role there, from one in its own namespace, and from a ClusterRole of that name',
      ],
    ],
  },
} as const satisfies Readonly<Record<string, Row>>;
