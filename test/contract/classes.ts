import type { Row } from './row.ts';

/** ClusterClass and topologies. */
export const classes = {
  'CP-80': {
    demand: 'A template has spec.template.metadata and spec.template.spec without version, replicas and endpoint.',
    proofs: [
      ['constructs/api/crd.test', 'leave fields that are specific to one cluster out of the template'],
      ['cluster/api/admission.test', 'has no version'],
    ],
  },
  'CP-81': {
    demand: 'A class may name another template, and a template may be changed in place.',
    proofs: [
      ['cluster/api/admission.test', 'may be changed in any way, because no control plane uses it directly'],
      [
        'full/cluster/workers/topology.test',
        'takes another template of its class, and a change of that one, without another control plane',
      ],
    ],
  },
  'CP-82': {
    demand: 'The template has a parent for every field that a JSON patch of a class adds.',
    proofs: [
      ['contract/topology.test', 'adds $path'],
      ['cluster/api/admission.test', 'starts with a parent for every patch of a ClusterClass'],
    ],
  },
  'CP-83': {
    demand: 'Version, replicas, rollout and machineTemplate of the topology take precedence over the template.',
    proofs: [
      ['contract/topology.test', 'makes a control plane that the operator accepts'],
      [
        'full/cluster/workers/topology.test',
        'scales by its variable, and by the number in its topology, which takes precedence',
      ],
      [
        'full/cluster/workers/topology.test',
        'passes on metadata, deletion and rollout of its topology, which the template does not have',
      ],
    ],
  },
  'CP-84': {
    demand: 'Builtin variables of a class come from name, version, replicas and metadata of the control plane.',
    proofs: [
      [
        'cluster/workers/v1beta1-class.test',
        'a class of v1beta1 gives a control plane what its builtin variables say of it',
      ],
    ],
  },
  'CP-85': {
    demand: 'The provider neither owns nor removes labels, annotations and fields of the topology.',
    proofs: [
      ['contract/topology.test', 'restarts nothing for another label or annotation, and keeps both'],
      ['soak/topology-life.test', 'nothing that belongs to it gets another generation in five idle minutes'],
    ],
  },
  'CP-86': {
    demand: 'What the provider writes into the spec is outside the template, and no list belongs to both.',
    proofs: [
      ['contract/topology.test', 'shares no field of the spec with the operator'],
      ['cluster/api/cluster-api.test', 'keeps the endpoint of the provider when the topology controller applies again'],
    ],
  },
  'CP-87': {
    demand: 'A new version reaches the control plane when it is stable, and workers when its status has the version.',
    proofs: [
      [
        'full/cluster/workers/topology.test',
        'follows a patch release, and the next minor with the class of that minor, control plane first',
      ],
      ['contract/core.test', 'is upgraded for core no earlier than its last old API server is gone'],
      ['contract/core.test', 'is stable for core when it is settled'],
    ],
  },
  'CP-88': {
    demand: "Core's webhook takes versions of a topology while the versions of the control plane allow it.",
    proofs: [
      ['contract/core.test', 'is stable for core when it is settled'],
      [
        'full/cluster/workers/topology.test',
        'takes no further minor while its control plane has not got this one, and goes back from it, in the Cluster first',
      ],
    ],
  },
  'CP-89': {
    demand: 'Runtime hooks run when the status of the control plane says so.',
    notApplicable: 'core calls all hooks, by fields that CP-28 and CP-33 prove',
  },
  'CP-90': {
    demand: 'Workers may be up to three minors older than the control plane.',
    proofs: [
      [
        'soak/older-workers.test',
        'a worker of %s joins a control plane of the newest minor with its own kubeadm, and serves',
      ],
    ],
  },
  'CP-91': {
    demand: 'Classes of both API versions name the newest served version of the template.',
    proofs: [
      [
        'cluster/workers/v1beta1-class.test',
        'a class of v1beta1 gives a control plane what its builtin variables say of it',
      ],
      [
        'full/cluster/workers/topology.test',
        'has read the variables of the class, and finds its references up to date',
      ],
    ],
  },
  'CP-92': {
    demand: 'The class gets VariablesReady and RefVersionsUpToDate with the template.',
    proofs: [
      [
        'full/cluster/workers/topology.test',
        'has read the variables of the class, and finds its references up to date',
      ],
    ],
  },
  'CP-93': {
    demand: 'The selectors of the patches of a class match the template.',
    proofs: [['full/cluster/workers/topology.test', 'plans what the class says with %s']],
  },
  'CP-95': {
    demand: 'Core creates Machines while the control plane is stable and their version is allowed beside its own.',
    proofs: [
      ['contract/core.test', 'is stable for core when it is settled'],
      ['system/demo.test', 'the kubeadm bootstrap provider creates the bootstrap data of a machine'],
    ],
  },
} as const satisfies Readonly<Record<string, Row>>;
