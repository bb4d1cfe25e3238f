import { certManager } from './families.ts';

/** Manifests that a Go module contains. */
export interface ModuleManifests {
  /** Name of the cached objects. */
  readonly name: string;
  readonly family: string;
  readonly module: string;
  /** YAML files, and folders whose YAML files are all used, by their paths in the module. */
  readonly paths: readonly string[];
}

/** The kinds of Gateway API, standard channel. */
export const gatewayApi: ModuleManifests = {
  name: 'gateway-api',
  family: 'traefik',
  module: 'sigs.k8s.io/gateway-api',
  paths: ['config/crd/standard'],
};

/** Cilium's own kind of network policies. */
export const cilium: ModuleManifests = {
  name: 'cilium',
  family: 'cilium',
  module: 'github.com/cilium/cilium',
  paths: ['pkg/k8s/apis/cilium.io/client/crds/v2/ciliumnetworkpolicies.yaml'],
};

/** The kinds of cert-manager; its controllers are started by the tests that need them. */
export const certManagerKinds: ModuleManifests = {
  name: 'cert-manager',
  family: certManager.name,
  module: certManager.module,
  paths: ['certificaterequests', 'certificates', 'clusterissuers', 'issuers'].map(
    (kind) => `deploy/crds/cert-manager.io_${kind}.yaml`,
  ),
};

/** Traefik's own kinds and the roles of its three providers used here. */
export const traefik: ModuleManifests = {
  name: 'traefik',
  family: 'traefik',
  module: 'github.com/traefik/traefik/v3',
  paths: [
    'kubernetes-crd-definition-v1.yml',
    'kubernetes-crd-rbac.yml',
    'kubernetes-gateway-rbac.yml',
    'kubernetes-ingress-nginx-rbac.yml',
  ].map((file) => `docs/content/reference/dynamic-configuration/${file}`),
};

const clusterApi = { family: 'cluster-api', module: 'sigs.k8s.io/cluster-api' } as const;

/** The kinds of Cluster API itself, without the webhooks that convert between versions. */
export const clusterApiCore: ModuleManifests = {
  ...clusterApi,
  name: 'cluster-api-kinds',
  paths: ['core/config/crd/bases'],
};

/** The kinds of the kubeadm bootstrap provider, without the webhooks that convert between versions. */
export const kubeadmBootstrap: ModuleManifests = {
  ...clusterApi,
  name: 'kubeadm-bootstrap-kinds',
  paths: ['bootstrap/kubeadm/config/crd/bases'],
};
