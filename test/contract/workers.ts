import type { Row } from './row.ts';

/** Core's connection to the hosted cluster, and what workers need there. */
export const workers = {
  'CP-100': {
    demand: "Core's cache connects by the kubeconfig from the pods of its managers.",
    proofs: [['system/demo.test', 'is Available for Cluster API']],
  },
  'CP-101': {
    demand: 'A MachineHealthCheck replaces unhealthy control plane Machines.',
    notApplicable: 'a hosted control plane has no Machines: probes restart its pods, and the operator replaces members',
    proofs: [
      ['invariants.test', 'is probed for readiness and liveness, at ports it has'],
      ['soak/etcd-members.test', 'one whose volume is on a removed node gets another volume'],
    ],
  },
  'CP-102': {
    demand: 'Core removes the taint node.cluster.x-k8s.io/uninitialized of a new Node by the kubeconfig.',
    proofs: [
      [
        'system/demo.test',
        'a machine that joins with it becomes the Node of its Machine, without taint, which goes with its Machine',
      ],
    ],
  },
  'CP-103': {
    demand: 'Autoscalers scale workers by the kubeconfig, and API servers by the scale subresource.',
    proofs: [
      ['soak/autoscaling.test', 'a HorizontalPodAutoscaler adds API servers up to five by their processor time'],
      ['soak/autoscaling.test', 'no request has failed meanwhile, and every write was seen'],
      ['cluster/api/cluster-api.test', 'scales through the scale subresource'],
      ['contract/core.test', 'counts by its selector the API servers that its counters have'],
    ],
  },
  'CP-104': {
    demand: 'clusterctl describe shows version, replicas and conditions of the control plane.',
    proofs: [
      ['contract/core.test', 'is readable by core after every write of %s'],
      ['full/system/operator-as-pod.test', 'is described by clusterctl, which hands out its kubeconfig'],
    ],
  },
  'CP-130': {
    demand: 'The bootstrap provider prepares workers once infrastructure, initialization, endpoint and CA are there.',
    proofs: [['system/demo.test', 'the kubeadm bootstrap provider creates the bootstrap data of a machine']],
  },
  'CP-131': {
    demand: 'Bootstrap tokens authenticate, sign cluster-info and expire.',
    proofs: [
      [
        'system/demo.test',
        'a machine that joins with it becomes the Node of its Machine, without taint, which goes with its Machine',
      ],
      ['contract/join.test', 'has the flags that bootstrap tokens and kubelets need'],
    ],
  },
  'CP-132': {
    demand: 'The bootstrap provider renders the kubeadm API of the version of the control plane.',
    proofs: [
      ['system/demo.test', 'the kubeadm bootstrap provider creates the bootstrap data of a machine'],
      ['constructs/workload/join-configuration.test', 'contains version, endpoint and networks'],
    ],
  },
  'CP-133': {
    demand: 'Workers may discover the cluster by a file.',
    notApplicable: 'the bootstrap provider writes the file, from the endpoint and the CA that CP-22 and CP-61 prove',
  },
  'CP-134': {
    demand: 'Anonymous clients may read kube-public/cluster-info, and nothing else.',
    proofs: [
      [
        'constructs/workload/rbac.test',
        'are granted to users in certificates, and to anonymous users for cluster-info only',
      ],
      ['cluster/workers/join.test', 'two workers that join at the same time are both Ready nodes'],
    ],
  },
  'CP-135': {
    demand: 'The controller manager signs cluster-info for every bootstrap token.',
    proofs: [
      ['soak/refused-join.test', 'with a token that the cluster does not have a join fails and reports that'],
      ['soak/refused-join.test', 'with all of them a machine joins'],
    ],
  },
  'CP-136': {
    demand: 'Every API server returns the same cluster-info, under the CA that the worker pins.',
    proofs: [['cluster/workers/join.test', 'two workers that join at the same time are both Ready nodes']],
  },
  'CP-137': {
    demand: 'cluster-info has one cluster without a name, with the endpoint and its CA.',
    proofs: [
      [
        'constructs/workload/join-configuration.test',
        'contains one cluster without a name, with the endpoint and its CA',
      ],
    ],
  },
  'CP-138': {
    demand: 'kube-system/kubeadm-config has a ClusterConfiguration that kubeadm of the version reads.',
    proofs: [
      ['constructs/workload/join-configuration.test', 'contains version, endpoint and networks'],
      ['cluster/workers/kubeadm-defaults.test', 'kubeadm accepts the configuration of the cluster'],
      ['soak/refused-join.test', 'without $kind $name a join fails and reports that'],
    ],
  },
  'CP-139': {
    demand: 'kube-system/kubelet-config has the configuration of kubelets.',
    proofs: [
      [
        'cluster/workers/kubeadm-defaults.test',
        'kubelets are configured as the kubeadm of their version configures them, and request serving certificates',
      ],
      ['soak/refused-join.test', 'without $kind $name a join fails and reports that'],
    ],
  },
  'CP-140': {
    demand: 'kube-system/kube-proxy has the configuration of kube-proxy, where that runs.',
    proofs: [['constructs/workload/kube-proxy.test', 'is configured by a file that leaves the mode to its default']],
  },
  'CP-141': {
    demand: 'Joining workers may read Nodes.',
    proofs: [
      ['constructs/workload/rbac.test', 'contain the %s %s as kubeadm creates it'],
      ['soak/refused-join.test', 'without $kind $name a join fails and reports that'],
    ],
  },
  'CP-142': {
    demand: 'Signing requests of kubelets are approved and signed with the cluster CA.',
    proofs: [
      ['cluster/workers/join.test', 'two workers that join at the same time are both Ready nodes'],
      ['cluster/workers/join.test', 'gets none for the name of another node'],
    ],
  },
  'CP-143': {
    demand: 'A worker may annotate its own Node.',
    proofs: [['cluster/workers/join.test', 'two workers that join at the same time are both Ready nodes']],
  },
  'CP-144': {
    demand: 'The hosted cluster has the roles and bindings of kubeadm.',
    proofs: [['constructs/workload/rbac.test', 'contain the %s %s as kubeadm creates it']],
  },
  'CP-145': {
    demand: 'API server and controller manager have the flags that joins and networks need.',
    proofs: [
      ['contract/join.test', 'has the flags that bootstrap tokens and kubelets need'],
      ['constructs/control-plane/api-server/api-server.test', 'serves the network and domain of its Cluster'],
    ],
  },
  'CP-146': {
    demand: 'Pods of the hosted cluster reach their API server by the Service kubernetes, whatever exposes it.',
    proofs: [
      [
        'full/cluster/workers/exposure-strategies.test',
        'behind an ingress controller a worker joins, its pods reach the API server, and kubectl reaches them',
      ],
      [
        'constructs/workload/in-cluster-access/in-cluster-access.test',
        'applies the kubernetes Service without a spec, and the address behind it',
      ],
    ],
  },
  'CP-147': {
    demand: 'The API server reaches kubelets, webhooks and aggregated APIs through the tunnel.',
    proofs: [
      ['cluster/workers/join.test', 'the API server reaches an aggregated API that a pod serves, through konnectivity'],
      ['cluster/workers/join.test', 'kubectl prints the log of every replica'],
    ],
  },
  'CP-148': {
    demand: 'The hosted cluster has CoreDNS and kube-proxy, unless they are disabled.',
    proofs: [
      ['cluster/workers/join.test', 'a pod resolves names of the cluster'],
      ['constructs/workload/kube-proxy.test', 'is not rendered if it is disabled'],
    ],
  },
} as const satisfies Readonly<Record<string, Row>>;
