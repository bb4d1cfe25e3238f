import type { Row } from './row.ts';

/** The kinds, their labels, and who may use them. */
export const definitions = {
  'CP-01': {
    demand: 'Both kinds are namespaced, because core searches a control plane in the namespace of its Cluster only.',
    proofs: [['constructs/api/crd.test', 'have one version each, which is served and stored, of namespaced objects']],
  },
  'CP-02': {
    demand: 'The kind of the template is that of the control plane with the suffix Template, and both have a List.',
    proofs: [
      ['constructs/api/crd.test', 'are named as Cluster API computes it from group and kind'],
      ['cluster/api/cluster-api.test', 'is listed with the columns of the reference provider'],
    ],
  },
  'CP-03': {
    demand: 'The API group is controlplane.cluster.x-k8s.io, which the manager role of core covers.',
    proofs: [['constructs/api/crd.test', 'are named as Cluster API computes it from group and kind']],
  },
  'CP-04': {
    demand: 'Each CRD has the name that core computes from group and kind.',
    proofs: [['constructs/api/crd.test', 'are named as Cluster API computes it from group and kind']],
  },
  'CP-05': {
    demand: 'Each CRD has a label that names the served versions that implement the contract v1beta2.',
    proofs: [
      ['constructs/api/crd.test', 'carry the labels of provider, contract and clusterctl: $spec.names.kind'],
      ['system/demo.test', 'is Available for Cluster API'],
    ],
  },
  'CP-06': {
    demand: 'No version of a CRD stands under the labels of two contracts.',
    proofs: [['constructs/api/crd.test', 'carry the labels of provider, contract and clusterctl: $spec.names.kind']],
  },
  'CP-07': {
    demand: 'Every object of the installation has the label cluster.x-k8s.io/provider.',
    proofs: [
      ['constructs/provider/chart.test', 'labels every object and pod for clusterctl'],
      ['constructs/api/crd.test', 'carry the labels of provider, contract and clusterctl: $spec.names.kind'],
    ],
  },
  'CP-08': {
    demand: 'A control plane has the status subresource, and a template has no status.',
    proofs: [
      ['constructs/api/crd.test', 'have a status for control planes only'],
      ['cluster/api/cluster-api.test', 'ignores a status that does not come through the status subresource'],
    ],
  },
  'CP-09': {
    demand: 'The scale subresource reads spec.replicas, status.replicas and status.selector.',
    proofs: [
      ['constructs/api/crd.test', 'scale by the fields that the operator reports'],
      ['cluster/api/cluster-api.test', 'scales through the scale subresource'],
    ],
  },
  'CP-10': {
    demand: 'The kinds have the category cluster-api, short names, and columns that show the state.',
    proofs: [
      ['constructs/api/crd.test', 'print the columns of the reference provider, the endpoint, and what blocks'],
      ['cluster/api/cluster-api.test', 'is listed with the columns of the reference provider'],
    ],
  },
  'CP-11': {
    demand: 'The schema declares every field that the topology controller may apply.',
    proofs: [
      [
        'cluster/api/cluster-api.test',
        'accepts every field that the topology controller may apply, and does not change when they are applied again',
      ],
    ],
  },
  'CP-12': {
    demand: 'A ClusterRole that aggregates to the manager role lets core use all kinds.',
    proofs: [
      ['constructs/provider/chart.test', "allow Cluster API's core to use all kinds"],
      ['constructs/provider/access.test', 'cover exactly the kinds that sample clusters render'],
    ],
  },
  'CP-13': {
    demand: 'Several versions of a CRD need conversion and a migration of stored objects.',
    notApplicable: 'there is one version',
    proofs: [['constructs/api/crd.test', 'have one version each, which is served and stored, of namespaced objects']],
  },
  'CP-14': {
    demand: 'Admission gives the same result for the same object, also in a dry run.',
    proofs: [
      [
        'cluster/api/cluster-api.test',
        'accepts every field that the topology controller may apply, and does not change when they are applied again',
      ],
      ['constructs/provider/chart.test', 'has no webhook and no policy that could change what Cluster API applies'],
    ],
  },
} as const satisfies Readonly<Record<string, Row>>;
