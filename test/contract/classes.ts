import type { Row } from './row.ts';

const topology = 'a topology Cluster under the real controllers on the testbed';

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
    open: `${topology}, whose class gets another template`,
    proofs: [['cluster/api/admission.test', 'may be changed in any way, because no control plane uses it directly']],
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
    open: `${topology}, with and without replicas`,
    proofs: [['contract/topology.test', 'makes a control plane that the operator accepts']],
  },
  'CP-84': {
    demand: 'Builtin variables of a class come from name, version, replicas and metadata of the control plane.',
    open: `${topology}, whose class has a patch with builtin variables`,
  },
  'CP-85': {
    demand: 'The provider neither owns nor removes labels, annotations and fields of the topology.',
    proofs: [['contract/topology.test', 'restarts nothing for another label or annotation, and keeps both']],
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
    open: `${topology} with a MachineDeployment, which is upgraded`,
    proofs: [
      ['contract/core.test', 'is upgraded for core no earlier than its last old API server is gone'],
      ['contract/core.test', 'is stable for core when it is settled'],
    ],
  },
  'CP-88': {
    demand: "Core's webhook takes versions of a topology while the versions of the control plane allow it.",
    open: `${topology}, whose version changes during an upgrade`,
    proofs: [['contract/core.test', 'is stable for core when it is settled']],
  },
  'CP-89': {
    demand: 'Runtime hooks run when the status of the control plane says so.',
    notApplicable: 'core calls all hooks, by fields that CP-28 and CP-33 prove',
  },
  'CP-90': {
    demand: 'Workers may be up to three minors older than the control plane.',
    open: 'Kubernetes binaries of four minors on the testbed, and a worker of each',
  },
  'CP-91': {
    demand: 'Classes of both API versions name the newest served version of the template.',
    open: 'one class of v1beta1 and one of v1beta2 on the testbed',
  },
  'CP-92': {
    demand: 'The class gets VariablesReady and RefVersionsUpToDate with the template.',
    open: 'a class under the real controllers on the testbed',
  },
  'CP-93': {
    demand: 'The selectors of the patches of a class match the template.',
    open: 'a class in dist',
  },
  'CP-95': {
    demand: 'Core creates Machines while the control plane is stable and their version is allowed beside its own.',
    proofs: [
      ['contract/core.test', 'is stable for core when it is settled'],
      ['system/bootstrap-provider.test', 'the kubeadm bootstrap provider creates the bootstrap data of a machine'],
    ],
  },
} as const satisfies Readonly<Record<string, Row>>;
