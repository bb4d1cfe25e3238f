import { z } from 'zod';
import { Certificates } from './certificates-spec.ts';
import { FixedContainer } from './container-spec.ts';
import { EncryptionAtRest } from './encryption-at-rest-spec.ts';
import { Etcd } from './etcd-spec.ts';
import { ExposureSpec, Gateway } from './exposure-spec.ts';
import { exactlyOneExposure, noLoadBalancerBesideNodePort, updateRules } from './hosted-control-plane-rules.ts';
import { InClusterAccess } from './in-cluster-access-spec.ts';
import { KubernetesVersion } from './kubernetes-version.ts';
import { NetworkPolicySpec } from './network-policy-spec.ts';
import { OIDCProviders } from './oidc-spec.ts';
import { ApiServerPod, pod, scalablePod } from './pod-spec.ts';
import type { HostedControlPlaneStatus } from './status.ts';
import { MachineTemplate, Rollout } from './topology-spec.ts';
import { withRules } from './validation-rule.ts';

const Deployment = z.object({
  apiServer: ApiServerPod.prefault({}).describe('Pods of the API server; their number is spec.replicas.'),
  controllerManager: z.object(scalablePod(1)).prefault({}).describe('Pods of the controller manager.'),
  scheduler: z.object(scalablePod(1)).prefault({}).describe('Pods of the scheduler.'),
});

const APIServer = z.object({
  certSANs: z
    .array(
      z
        .string()
        .min(1)
        .max(253)
        .regex(/^[0-9A-Za-z*.:-]+$/, 'must be a host name or an IP address')
        .describe('Host name or IP address.'),
    )
    .max(128)
    .optional()
    .describe('More names the serving certificate is valid for, besides the ones clients are known to use.'),
});

/**
 * Everything that is the same for many clusters and therefore belongs into a template. Objects have a default so that
 * the JSON patches of a ClusterClass find the parent of whatever they add.
 */
export const templateFields = {
  gateway: Gateway.optional().describe('Short for exposure.gateway.'),
  exposure: ExposureSpec.optional().describe('How workers and users reach the API server; exactly one way.'),
  apiServer: APIServer.prefault({}).describe('What the API server is configured with.'),
  deployment: Deployment.prefault({}).describe('Pods of the control plane in the management cluster.'),
  etcd: Etcd.prefault({}).describe('The etcd of this control plane.'),
  encryptionAtRest: EncryptionAtRest.prefault({}).describe('How Secrets of the hosted cluster are stored in etcd.'),
  certificates: Certificates.prefault({}).describe('Lifetimes of certificates.'),
  oidcProviders: OIDCProviders.optional().describe('Token issuers the API server trusts, by issuer URL.'),
  inClusterAccess: InClusterAccess.optional(),
  proxy: FixedContainer.prefault({}).describe(
    'The HAProxy of inClusterAccess Proxy, on every node and, behind shared host names, beside the API server.',
  ),
  networkPolicy: NetworkPolicySpec,
  konnectivityClient: z
    .object({
      ...scalablePod(2),
      disabled: z
        .boolean()
        .default(false)
        .describe('Run no konnectivity agent, for networks in which you run it another way.'),
    })
    .prefault({})
    .describe('The konnectivity agent in the hosted cluster, over which the API server reaches nodes and pods.'),
  kubeProxy: z
    .object({
      ...pod,
      disabled: z.boolean().default(false).describe('Run no kube-proxy, for networks that replace it.'),
    })
    .prefault({})
    .describe('kube-proxy in the hosted cluster.'),
  coredns: z
    .object({
      ...scalablePod(2),
      disabled: z.boolean().default(false).describe('Run no CoreDNS, for clusters that bring their own DNS.'),
      corefile: z
        .string()
        .min(1)
        .max(65536)
        .optional()
        .describe(
          "Replaces the whole Corefile; kubeadm's default when unset. Serve port 53 and keep the plugins health and ready, by which the pods are probed.",
        ),
    })
    .prefault({})
    .describe('CoreDNS in the hosted cluster.'),
  rollout: Rollout.optional().describe('Restarts on request.'),
  machineTemplate: MachineTemplate.optional().describe(
    'Ignored: a hosted control plane has no Machines. Accepted because Cluster API may set it.',
  ),
};

const ControlPlaneEndpoint = withRules(
  z
    .object({
      host: z.string().min(1).max(512).optional().describe('Host name or IP address.'),
      port: z.int32().min(1).max(65535).optional().describe('Port.'),
    })
    .meta({ minProperties: 1 }),
  [
    {
      rule: 'has(self.host) || has(self.port)',
      message: 'an endpoint needs host and port: set them, or leave controlPlaneEndpoint out',
      holds: ({ host, port }) => host !== undefined || port !== undefined,
    },
  ],
);

/** What a user asks for. */
export const HostedControlPlaneSpec = withRules(
  z.object({
    version: KubernetesVersion,
    replicas: z.int32().min(1).default(2).describe('Number of API server pods.'),
    controlPlaneEndpoint: ControlPlaneEndpoint.optional().describe(
      'Address of the API server. Written by the provider; once set it never changes, because workers have it in their kubeconfigs.',
    ),
    ...templateFields,
  }),
  [exactlyOneExposure, noLoadBalancerBesideNodePort, ...updateRules],
);
export type HostedControlPlaneSpec = z.output<typeof HostedControlPlaneSpec>;

/** Metadata of an object as the API server returns it; only what the provider reads. */
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
