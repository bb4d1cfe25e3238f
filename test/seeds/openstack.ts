import type { Proof } from '../contract/row.ts';
import type { Typed } from './typed.ts';

/** One of the tests that type what the seed says, in its order. */
const replayed = (test: string): Proof => ['soak/openstack-seed.test', test];
const installs = replayed('is installed, and gets credentials');
const creates = replayed('becomes a cluster with workers');
const looks = replayed('shows its state');
const upgrades = replayed('follows the next minor, workers last');
const scales = replayed('is scaled');
const ends = replayed('is deleted with its machines');

const release = 'https://github.com/teutonet/cluster-api-provider-hosted-control-plane/releases';
const install = {
  instead: 'kubectl apply --server-side -f dist/control-plane-components.yaml',
  because:
    'there is no release of this provider at that address, and its CRDs are too large for the annotation of `kubectl apply`',
  proof: installs,
};
const asWritten = true;
const labels = 'cluster.x-k8s.io/cluster-name=$CLUSTER_NAME';
const log = (container: string, component: string): Typed => ({
  command: `kubectl logs -n $CLUSTER_NAMESPACE -l ${labels} -c ${container}`,
  instead: `kubectl logs -n $CLUSTER_NAMESPACE -l ${labels},app.kubernetes.io/component=${component} -c ${container}`,
  because: 'components have pods of their own, and kubectl refuses a selector with pods that lack the container',
  proof: looks,
});
const hosted = (command: string, why: string): Typed => ({ command, notTried: why });
const patch = "kubectl patch cluster -n $CLUSTER_NAMESPACE $CLUSTER_NAME --type merge -p '";

/** 001: a cluster stack for OpenStack, in the order of its page. */
export const openstack: readonly Typed[] = [
  { command: `kubectl apply -f ${release}/latest/download/control-plane-components.yaml`, ...install },
  { command: `kubectl apply -f ${release}/download/v0.1.0/control-plane-components.yaml`, ...install },
  {
    command: 'kubectl get pods -n capi-system | grep hosted-control-plane',
    instead: 'kubectl get pods -n capi-hosted-control-plane-system | grep hosted-control-plane',
    because: 'the provider has a namespace of its own',
    proof: installs,
  },
  { command: 'kubectl get crd hostedcontrolplanes.controlplane.cluster.x-k8s.io', asWritten, proof: installs },
  { command: 'kubectl get crd hostedcontrolplanetemplates.controlplane.cluster.x-k8s.io', asWritten, proof: installs },
  { command: 'kind create cluster --name capi-management', notTried: 'needs containers in containers' },
  { command: 'export CLUSTER_TOPOLOGY=true', asWritten, proof: installs },
  { command: 'export EXP_CLUSTER_RESOURCE_SET=true', asWritten, proof: installs },
  { command: 'export EXP_RUNTIME_SDK=true', asWritten, proof: installs },
  {
    command: 'clusterctl init --infrastructure openstack',
    instead: 'clusterctl init --infrastructure openstack --control-plane hosted-control-plane',
    because: 'installs this provider too, from your repository of releases; tried without OpenStack',
    proof: [
      'full/system/operator-as-pod.test',
      'keeps its containers while clusterctl upgrades, deletes and installs the operator',
    ],
  },
  hosted('kubectl -n capi-system rollout status deployment --timeout=5m', 'Cluster API is a process in the tests'),
  hosted('kubectl -n capo-system rollout status deployment --timeout=5m', 'a process of the tests stands in for CAPO'),
  hosted(
    'helm upgrade -i cso -n cso-system --create-namespace oci://registry.scs.community/cluster-stacks/cso',
    'the tests create the class that the cluster stack operator would create',
  ),
  hosted(
    'kubectl -n cso-system rollout status deployment cso-controller-manager',
    'the tests create the class that the cluster stack operator would create',
  ),
  { command: 'export CLUSTER_NAMESPACE=cluster', asWritten, proof: installs },
  { command: 'export CLUSTER_NAME=my-hosted-cluster', asWritten, proof: installs },
  { command: 'export CLUSTERSTACK_NAMESPACE=cluster', asWritten, proof: installs },
  { command: 'export CLUSTERSTACK_VERSION=v1', asWritten, proof: installs },
  { command: 'export OS_CLIENT_CONFIG_FILE=${PWD}/clouds.yaml', asWritten, proof: installs },
  { command: 'kubectl create namespace $CLUSTER_NAMESPACE', asWritten, proof: installs },
  {
    command:
      'kubectl create secret -n $CLUSTER_NAMESPACE generic openstack --from-file=clouds.yaml=$OS_CLIENT_CONFIG_FILE',
    asWritten,
    proof: installs,
  },
  {
    command:
      'kubectl create secret -n kube-system generic clouds-yaml --from-file=clouds.yaml=$OS_CLIENT_CONFIG_FILE --dry-run=client -o yaml > clouds-yaml-secret',
    asWritten,
    proof: installs,
  },
  {
    command:
      'kubectl create -n $CLUSTER_NAMESPACE secret generic clouds-yaml --from-file=clouds-yaml-secret --type=addons.cluster.x-k8s.io/resource-set',
    asWritten,
    proof: installs,
  },
  { yaml: 1, what: 'the ClusterResourceSet', asWritten, proof: creates },
  {
    yaml: 2,
    what: 'the ClusterStack',
    asWritten,
    remark: 'with `name` of the release',
    proof: [
      'constructs/stacks/openstack/cluster.test',
      'subscribes to the stack of its minor, by an object that the schema accepts',
    ],
  },
  {
    yaml: 3,
    what: 'the Cluster, of v1beta1, with its variables',
    asWritten,
    remark: 'with the ID of your external network; tried with a newer minor in class and version',
    proof: creates,
  },
  { command: 'kubectl get cluster -n $CLUSTER_NAMESPACE -w', asWritten, proof: looks },
  { command: 'kubectl get hostedcontrolplane -n $CLUSTER_NAMESPACE', asWritten, proof: looks },
  { command: `kubectl get pods -n $CLUSTER_NAMESPACE -l ${labels}`, asWritten, proof: looks },
  { command: 'kubectl get machine -n $CLUSTER_NAMESPACE', asWritten, proof: looks },
  {
    command: 'clusterctl get kubeconfig -n $CLUSTER_NAMESPACE $CLUSTER_NAME > $CLUSTER_NAME-kubeconfig',
    asWritten,
    proof: looks,
  },
  { command: 'kubectl --kubeconfig $CLUSTER_NAME-kubeconfig get nodes', asWritten, proof: looks },
  log('kube-apiserver', 'api-server'),
  log('kube-controller-manager', 'controller-manager'),
  log('kube-scheduler', 'scheduler'),
  {
    command: 'clusterctl get kubeconfig -n $CLUSTER_NAMESPACE $CLUSTER_NAME > /tmp/kubeconfig',
    asWritten,
    remark: 'better into a directory that only you read',
    proof: looks,
  },
  { command: 'kubectl --kubeconfig /tmp/kubeconfig get nodes', asWritten, proof: looks },
  { command: 'kubectl --kubeconfig /tmp/kubeconfig get pods -A', asWritten, proof: looks },
  ...['k8s-app=cilium', 'app=openstack-cloud-controller-manager', 'app=cinder-csi'].map((label) =>
    hosted(
      `kubectl --kubeconfig /tmp/kubeconfig get pods -n kube-system -l ${label}`,
      'the charts of add-ons are not installed in the tests',
    ),
  ),
  hosted('kubectl --kubeconfig /tmp/kubeconfig top nodes', 'the charts of add-ons are not installed in the tests'),
  {
    command: `${patch}{"spec":{"topology":{"version":"v1.32.8"}}}'`,
    instead: `${patch}{"spec":{"topology":{"classRef":{"name":"openstack-hosted-control-plane-1-34-v1"},"version":"v1.34.10"}}}'`,
    because: 'a minor cannot go back, and each minor has a class of its own',
    proof: upgrades,
  },
  {
    command: `${patch}{"spec":{"topology":{"variables":[{"name":"controlPlaneReplicas","value":5}]}}}'`,
    instead: `${patch}{"spec":{"topology":{"controlPlane":{"replicas":5}}}}'`,
    because:
      'a merge patch replaces all variables, and this Cluster has the number in its topology, which takes precedence',
    proof: scales,
  },
  { command: 'kubectl get hostedcontrolplane -n $CLUSTER_NAMESPACE -w', asWritten, proof: scales },
  {
    command: `${patch}{"spec":{"topology":{"workers":{"machineDeployments":[{"class":"default-worker","name":"md-0","replicas":5}]}}}}'`,
    asWritten,
    remark: 'with one MachineDeployment; otherwise patch its entry',
    proof: scales,
  },
  { command: 'kubectl get machines -n $CLUSTER_NAMESPACE -w', asWritten, proof: scales },
  { command: 'kubectl delete cluster -n $CLUSTER_NAMESPACE $CLUSTER_NAME', asWritten, proof: ends },
  hosted('openstack server list', 'there is no OpenStack in the tests'),
  hosted('openstack network list', 'there is no OpenStack in the tests'),
];
