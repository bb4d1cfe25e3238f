import { z } from 'zod';
import { host, subjectName } from './address.ts';
import { Certificates } from './certificates-spec.ts';
import { fixedContainer } from './container-spec.ts';
import { Etcd } from './etcd-spec.ts';
import { ExposureSpec, Gateway } from './exposure-spec.ts';
import {
  exactlyOneExposure,
  gatewayNames,
  noLoadBalancerBesideNodePort,
  noOwnTokenIssuer,
  noPolicyBeforeItsMinor,
  updateRules,
} from './hosted-control-plane-rules.ts';
import { InClusterAccess } from './in-cluster-access-spec.ts';
import { KubernetesVersion } from './kubernetes-version.ts';
import { OIDCProviders } from './oidc-spec.ts';
import { objectName } from './object-name.ts';
import { daemonOverlay, Overlay } from './overlay-spec.ts';
import { ApiServerPod, addOnPod, ControllerManagerPod, daemonPod, SchedulerPod } from './pod-spec.ts';
import { ServiceAccountIssuer } from './service-account-issuer-spec.ts';
import type { HostedControlPlaneStatus } from './status.ts';
import { MetricsScrapers } from './metrics-scrapers-spec.ts';
import { Maintenance } from './maintenance-spec.ts';
import { Kubeconfigs } from './kubeconfig-spec.ts';
import { ReadinessGates } from './readiness-gate-spec.ts';
import { MachineTemplate, Rollout, Upgrade } from './topology-spec.ts';
import { textOf, withRules } from './validation-rule.ts';

/** The kind of the policies that restrict the traffic of a control plane's pods. */
export const NetworkPolicySpec = z
  .enum(['Auto', 'NetworkPolicy', 'CiliumNetworkPolicy', 'Disabled'])
  .default('Auto')
  .describe(
    'Policies that restrict the traffic of the control plane in the management cluster: NetworkPolicy, CiliumNetworkPolicy, or Disabled, which keeps only what the platform denies to every control plane. Auto selects CiliumNetworkPolicy where the management cluster serves that API. Policies are additive: to allow more traffic, such as metrics scraping, add a policy of your own.',
  );
export type NetworkPolicySpec = z.output<typeof NetworkPolicySpec>;

/** How Secrets are stored in etcd. */
export const EncryptionAtRest = z.object({
  provider: z
    .enum(['secretbox', 'None'])
    .optional()
    .describe(
      'secretbox encrypts Secrets with a key that only the API servers and the operator have. None stores Secrets unencrypted. When unset, new control planes use secretbox, unless deployment.apiServer.args contains encryption-provider-config, and existing control planes do not change. A change rewrites every Secret.',
    ),
  rotation: z
    .string()
    .max(128)
    .optional()
    .describe(
      'Any text. Change it to replace the key: the operator rewrites every Secret with the new key before it removes the old key from the API servers. Old keys stay in the Secret <cluster>-encryption of the management cluster, so that older backups remain readable.',
    ),
});
export type EncryptionAtRest = z.output<typeof EncryptionAtRest>;

const Deployment = z.object({
  defaults: Overlay.optional().describe(
    'Additions to the pods of the API server, the controller manager, the scheduler and etcd. What a component sets itself comes on top: entries of maps and lists are added, and those with the same name replace these.',
  ),
  apiServer: ApiServerPod.prefault({}).describe('Pods of the API server. spec.replicas sets their number.'),
  controllerManager: ControllerManagerPod.prefault({}).describe('Pods of the controller manager.'),
  scheduler: SchedulerPod.prefault({}).describe('Pods of the scheduler.'),
});

const APIServer = z.object({
  certSANs: z
    .array(subjectName().describe('Host name or IP address.'))
    .max(128)
    .optional()
    .describe(
      'Additional names in the serving certificate of the API server. It always contains the names that the operator knows clients use.',
    ),
});

/**
 * Everything that is the same for many clusters and therefore belongs into a template. Objects have a default so that
 * the JSON patches of a ClusterClass find the parent of the fields they add.
 */
export const templateFields = {
  gateway: Gateway.optional().describe('Shorthand for exposure.gateway.'),
  exposure: ExposureSpec.optional().describe(
    'Exposure strategy: how workers and users reach the API server. Exactly one must be set.',
  ),
  apiServer: APIServer.prefault({}).describe('Configuration of the API server.'),
  componentTemplateRef: z
    .object({
      name: objectName().describe('Name of the HostedControlPlaneComponentTemplate, in the namespace of the object.'),
    })
    .optional()
    .describe(
      'Settings of pods that several control planes share. What deployment and etcd set themselves comes on top: entries of maps and lists are added, and those with the same name replace these. Name another one to restart exactly the components for which it differs.',
    ),
  deployment: Deployment.prefault({}).describe('Pods of the control plane, which run in the management cluster.'),
  etcd: Etcd.prefault({}).describe('The etcd of this control plane.'),
  imageRegistry: textOf(
    '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$',
    255,
    'must be a host and an optional port and path, such as registry.example.org/mirror, without scheme',
  )
    .optional()
    .describe(
      'Registry of all images, such as registry.example.org/mirror: of the control plane, add-ons in the hosted cluster and pods that restore backups. Repositories and tags stay. The registry of a single image takes precedence.',
    ),
  encryptionAtRest: EncryptionAtRest.prefault({}).describe('Encryption of the Secrets of the hosted cluster in etcd.'),
  certificates: Certificates.prefault({}).describe('Lifetimes, issuer and rotation of certificates.'),
  oidcProviders: OIDCProviders.optional().describe(
    'Token issuers that the API server trusts, by issuer URL, in addition to the issuer of its own service accounts. API servers apply a change without a restart, unless it adds the first entry or removes the last one.',
  ),
  managementClusterIssuer: z
    .object({
      enabled: z
        .boolean()
        .default(false)
        .describe(
          'Whether service accounts of the management cluster can sign in. Their tokens need the audience workload-cluster:<namespace>/<cluster>; their names and groups begin with management-cluster: in the hosted cluster. The platform names the issuer.',
        ),
    })
    .prefault({})
    .describe('The management cluster as a token issuer.'),
  serviceAccountIssuer: ServiceAccountIssuer.prefault({}).describe(
    'Issuers of the service account tokens of the hosted cluster, for example for a cluster whose keys come from elsewhere.',
  ),
  inClusterAccess: InClusterAccess.optional(),
  proxy: z
    .object({ ...fixedContainer, ...daemonOverlay })
    .prefault({})
    .describe(
      'The HAProxy of inClusterAccess Proxy, which runs on every node and, with exposure strategies that share host names, next to the API server; with inClusterAccess Policy, the HAProxy of the two pods behind the kubernetes Service.',
    ),
  networkPolicy: NetworkPolicySpec,
  metricsScrapers: MetricsScrapers.optional(),
  konnectivityClient: z
    .object({
      ...addOnPod,
      disabled: z
        .boolean()
        .default(false)
        .describe('Do not run the konnectivity agent, for example because you deploy it yourself.'),
    })
    .prefault({})
    .describe('The konnectivity agent in the hosted cluster, through which the API server reaches nodes and pods.'),
  kubeProxy: z
    .object({
      ...daemonPod,
      disabled: z.boolean().default(false).describe('Do not run kube-proxy, for networks that replace it.'),
    })
    .prefault({})
    .describe('kube-proxy in the hosted cluster.'),
  coredns: z
    .object({
      ...addOnPod,
      disabled: z.boolean().default(false).describe('Do not run CoreDNS, for clusters that bring their own DNS.'),
      corefile: z
        .string()
        .min(1)
        .max(65536)
        .optional()
        .describe(
          "Replaces the whole Corefile; kubeadm's default when unset. It must serve port 53 and keep the plugins health and ready, which the probes of the pods use.",
        ),
    })
    .prefault({})
    .describe('CoreDNS in the hosted cluster.'),
  readinessGates: ReadinessGates.optional(),
  kubeconfigs: Kubeconfigs.optional(),
  rollout: Rollout.optional().describe('Restarts on request.'),
  maintenance: Maintenance.optional().describe('When the operator may replace pods without a request.'),
  upgrade: Upgrade.optional().describe('Upgrades of the minor version of Kubernetes.'),
  machineTemplate: MachineTemplate.optional().describe(
    'Ignored, because a hosted control plane has no Machines. Cluster API may set it.',
  ),
};

const ControlPlaneEndpoint = withRules(
  z
    .object({
      host: host().optional().describe('Host name or IP address.'),
      port: z.int32().min(1).max(65535).optional().describe('Port.'),
    })
    .meta({ minProperties: 1 }),
  [
    {
      rule: 'has(self.host) || has(self.port)',
      message: 'controlPlaneEndpoint needs host and port: set both, or remove controlPlaneEndpoint',
      holds: ({ host, port }) => host !== undefined || port !== undefined,
    },
  ],
);

/** @internal */
export const HostedControlPlaneSpec = withRules(
  z.object({
    version: KubernetesVersion,
    replicas: z.int32().min(1).max(100).default(2).describe('Number of API server pods.'),
    controlPlaneEndpoint: ControlPlaneEndpoint.optional().describe(
      'Address of the API server. The operator writes it. Once set, it never changes, because the kubeconfigs of the workers contain it.',
    ),
    hibernate: z
      .boolean()
      .optional()
      .describe(
        'Whether the control plane is stopped: a last backup if etcd.backup is set, then no pods; volumes, addresses and certificates stay. Refused while Machines exist, unless the annotation controlplane.cluster.x-k8s.io/hibernate-with-machines is set. Default: false.',
      ),
    ...templateFields,
  }),
  [
    exactlyOneExposure,
    ...gatewayNames,
    noLoadBalancerBesideNodePort,
    noPolicyBeforeItsMinor,
    noOwnTokenIssuer,
    ...updateRules,
  ],
);
/** Desired state of a hosted control plane. */
export type HostedControlPlaneSpec = z.output<typeof HostedControlPlaneSpec>;

/** Metadata of an object as the API server returns it; only the fields that the operator reads. */
export const ObjectMeta = z.looseObject({
  name: z.string().min(1),
  namespace: z.string().min(1),
  uid: z.string().optional(),
  generation: z.number().optional(),
  resourceVersion: z.string().optional(),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  finalizers: z.array(z.string()).optional(),
  ownerReferences: z
    .array(
      z.looseObject({
        apiVersion: z.string(),
        kind: z.string(),
        name: z.string(),
        uid: z.string(),
        controller: z.boolean().optional(),
      }),
    )
    .optional(),
});
export type ObjectMeta = z.output<typeof ObjectMeta>;

/** One hosted control plane, with defaults filled in. */
export interface HostedControlPlane {
  readonly apiVersion: string;
  readonly kind: 'HostedControlPlane';
  readonly metadata: ObjectMeta;
  readonly spec: HostedControlPlaneSpec;
  readonly status?: HostedControlPlaneStatus | undefined;
}
