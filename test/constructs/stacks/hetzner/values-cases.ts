import type { GivenHetznerValues } from '../../../../constructs/stacks/hetzner/values.ts';

/** The `config` of a ClusterDeployment as users of other templates for Hetzner write it. */
export const writtenForK0s = {
  workersNumber: 2,
  controlPlane: {
    replicas: 1,
    service: { type: 'ClusterIP' },
    ingress: {
      apiHost: 'api.cluster01.k0s.enopax.io',
      konnectivityHost: 'konnectivity.cluster01.k0s.enopax.io',
    },
  },
  region: 'nbg1',
  sshKeyNames: ['felix@chump'],
  tokenRef: { name: 'hcloud-cluster-provisioning-token', key: 'HCLOUD_TOKEN' },
  hcloudNetwork: {
    enabled: true,
    cidrBlock: '10.0.0.0/16',
    subnetCidrBlock: '10.0.0.0/24',
    networkZone: 'eu-central',
  },
  worker: { image: 'ubuntu-24.04', type: 'cpx22' },
  k0s: { version: 'v1.34.3+k0s.0', network: { provider: 'custom' } },
} as const satisfies GivenHetznerValues;

const { ingress: _, ...withoutIngress } = writtenForK0s.controlPlane;

/** Valid values by the way in which workers reach the API server. */
export const accepted: Readonly<Record<string, GivenHetznerValues>> = {
  ingress: { ...writtenForK0s, sshKeyNames: [...writtenForK0s.sshKeyNames] },
  'an ingress of nginx': {
    ...writtenForK0s,
    sshKeyNames: [],
    controlPlane: {
      ...writtenForK0s.controlPlane,
      ingress: { ...writtenForK0s.controlPlane.ingress, controller: 'nginx', className: 'nginx' },
    },
  },
  'a load balancer': {
    ...writtenForK0s,
    sshKeyNames: ['one', 'two'],
    controlPlane: {
      ...withoutIngress,
      service: { type: 'LoadBalancer', annotations: { 'load-balancer.hetzner.cloud/location': 'nbg1' } },
    },
  },
  'node ports': {
    ...writtenForK0s,
    sshKeyNames: [],
    controlPlane: { ...withoutIngress, service: { type: 'NodePort', externalAddress: '192.0.2.10' } },
  },
  'the defaults': {
    controlPlane: { service: { type: 'LoadBalancer' } },
    region: 'nbg1',
    kubernetesVersion: 'v1.36.4',
  },
  'another network zone': {
    controlPlane: { service: { type: 'LoadBalancer' } },
    region: 'ash',
    hcloudNetwork: { networkZone: 'us-east' },
    kubernetesVersion: 'v1.36.4',
    clusterNetwork: { pods: ['10.244.0.0/16', 'fd00:1::/56'], services: ['10.96.0.0/12', 'fd00:2::/112'] },
  },
  'what kcm adds': {
    controlPlane: { service: { type: 'LoadBalancer' } },
    region: 'nbg1',
    kubernetesVersion: 'v1.36.4',
    clusterIdentity: { kind: 'Secret', name: 'any' },
    clusterLabels: { team: 'a' },
    global: { registry: 'registry.example.org' },
  },
};

/** Values that are refused. */
export const refused: Readonly<Record<string, object>> = {
  'an unknown key': { ...writtenForK0s, workerNumber: 3 },
  'an unknown key of the control plane': {
    ...writtenForK0s,
    controlPlane: { ...writtenForK0s.controlPlane, ingres: {} },
  },
  'an ingress beside a load balancer': {
    ...writtenForK0s,
    controlPlane: { ...writtenForK0s.controlPlane, service: { type: 'LoadBalancer' } },
  },
  'no way to reach the API server': { ...writtenForK0s, controlPlane: withoutIngress },
  'node ports without an address': {
    ...writtenForK0s,
    controlPlane: { ...withoutIngress, service: { type: 'NodePort' } },
  },
  'a node port out of range': {
    ...writtenForK0s,
    controlPlane: { ...withoutIngress, service: { type: 'NodePort', externalAddress: '192.0.2.10', apiPort: 443 } },
  },
  'one host name of two': {
    ...writtenForK0s,
    controlPlane: { replicas: 1, ingress: { apiHost: 'api.example.org' } },
  },
  'no version': { ...writtenForK0s, k0s: {} },
  'two versions': { ...writtenForK0s, kubernetesVersion: 'v1.34.3' },
  'a version without v': { ...writtenForK0s, k0s: { version: '1.34.3' } },
  'an unknown region': { ...writtenForK0s, region: 'fra1' },
  'a network zone without the region': { ...writtenForK0s, region: 'ash' },
  'a network plugin of k0s': {
    ...writtenForK0s,
    k0s: { version: 'v1.34.3+k0s.0', network: { provider: 'calico' } },
  },
  'a fraction of a worker': { ...writtenForK0s, workersNumber: 1.5 },
};
