import { z } from 'zod';

/** Regions of Hetzner Cloud, and the network zone of each. */
export const networkZones = {
  fsn1: 'eu-central',
  nbg1: 'eu-central',
  hel1: 'eu-central',
  ash: 'us-east',
  hil: 'us-west',
  sin: 'ap-southeast',
} as const;

const port = (what: string) => z.int32().min(30000).max(32767).describe(what);
const hostName = (what: string) => z.string().min(1).max(253).describe(what);
const map = (what: string) => z.record(z.string(), z.string()).default({}).describe(what);
const added = (what: string) => z.looseObject({}).optional().describe(what);

const Service = z.strictObject({
  type: z
    .enum(['ClusterIP', 'LoadBalancer', 'NodePort'])
    .default('ClusterIP')
    .describe('ClusterIP with controlPlane.ingress; LoadBalancer and NodePort expose the API server themselves.'),
  annotations: map('Annotations of a Service of type LoadBalancer.'),
  externalAddress: hostName(
    'With NodePort: address at which workers reach nodes of the management cluster.',
  ).optional(),
  apiPort: port('With NodePort: port of the API server.').default(30443),
  konnectivityPort: port('With NodePort: port of konnectivity.').default(30132),
});

const Ingress = z.strictObject({
  apiHost: hostName('Host name of the API server. DNS must resolve it to the ingress controller.'),
  konnectivityHost: hostName('Host name of konnectivity. DNS must resolve it to the ingress controller.'),
  controller: z
    .enum(['haproxy', 'haproxy-ingress', 'nginx', 'traefik'])
    .default('haproxy')
    .describe('Ingress controller for whose TLS passthrough the objects are written.'),
  className: z.string().min(1).default('haproxy').describe('Class of the Ingress objects.'),
});

/** A combination of values that is refused, as JSON schema and as a check. */
interface ValueRule {
  readonly message: string;
  /** JSON schema that every valid combination matches. */
  readonly schema: object;
  readonly holds: (values: { readonly controlPlane: ControlPlane } & Versions) => boolean;
}

const ControlPlane = z.strictObject({
  replicas: z.int32().min(1).default(2).describe('Number of API servers.'),
  service: Service.prefault({}).describe('Service of the API server.'),
  ingress: Ingress.optional().describe('Share an ingress controller with TLS passthrough, by host names.'),
});
type ControlPlane = z.output<typeof ControlPlane>;

interface Versions {
  readonly kubernetesVersion?: string | undefined;
  readonly k0s?: { readonly version?: string | undefined } | undefined;
}

const controlPlane = (schema: object) => ({ properties: { controlPlane: schema } });
const serviceOf = (type: string) => ({
  properties: { service: { properties: { type: { const: type } }, required: ['type'] } },
  required: ['service'],
});

const rules: readonly ValueRule[] = [
  {
    message: 'controlPlane.ingress needs controlPlane.service.type ClusterIP: remove one of them',
    schema: controlPlane({ not: { anyOf: ['LoadBalancer', 'NodePort'].map(ingressBeside) } }),
    holds: ({ controlPlane: { ingress, service } }) => !ingress || service.type === 'ClusterIP',
  },
  {
    message: 'controlPlane.service.type ClusterIP needs controlPlane.ingress: set its host names, or another type',
    schema: controlPlane({ anyOf: [{ required: ['ingress'] }, serviceOf('LoadBalancer'), serviceOf('NodePort')] }),
    holds: ({ controlPlane: { ingress, service } }) => ingress !== undefined || service.type !== 'ClusterIP',
  },
  {
    message: 'controlPlane.service.type NodePort needs controlPlane.service.externalAddress',
    schema: controlPlane({
      anyOf: [{ not: serviceOf('NodePort') }, { properties: { service: { required: ['externalAddress'] } } }],
    }),
    holds: ({ controlPlane: { service } }) => service.type !== 'NodePort' || service.externalAddress !== undefined,
  },
  {
    message: 'set either kubernetesVersion or k0s.version',
    schema: {
      oneOf: [
        { required: ['kubernetesVersion'] },
        { required: ['k0s'], properties: { k0s: { required: ['version'] } } },
      ],
    },
    holds: ({ kubernetesVersion, k0s }) => (kubernetesVersion === undefined) !== (k0s?.version === undefined),
  },
];

function ingressBeside(type: string) {
  const { properties, required } = serviceOf(type);
  return { properties, required: [...required, 'ingress'] };
}

const version = (example: string, pattern: RegExp) =>
  z.string().regex(pattern, `must be a version such as ${example}`).optional();

const fields = z.strictObject({
  workersNumber: z.int32().min(0).default(2).describe('Number of workers.'),
  controlPlane: ControlPlane.describe('The control plane, which runs in the management cluster.'),
  region: z
    .enum(Object.keys(networkZones) as [keyof typeof networkZones])
    .describe('Region of Hetzner Cloud for the workers.'),
  sshKeyNames: z
    .array(z.string().min(1))
    .default([])
    .describe('SSH keys in Hetzner Cloud that may sign in to workers.'),
  tokenRef: z
    .strictObject({
      name: z.string().min(1).default('hetzner').describe('Name of the Secret.'),
      key: z.string().min(1).default('hcloud').describe('Its key.'),
    })
    .prefault({})
    .describe("Secret in the Cluster's namespace with the token for Hetzner Cloud."),
  hcloudNetwork: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Whether the workers have a private network.'),
      cidrBlock: z.string().default('10.0.0.0/16').describe('Its addresses.'),
      subnetCidrBlock: z.string().default('10.0.0.0/24').describe('Addresses of the subnet of the workers.'),
      networkZone: z
        .enum(['eu-central', 'us-east', 'us-west', 'ap-southeast'])
        .default('eu-central')
        .describe('Network zone, which must be the zone of the region.'),
    })
    .prefault({})
    .describe('The private network of the workers. It cannot change later.'),
  worker: z
    .strictObject({
      image: z
        .string()
        .min(1)
        .default('ubuntu-24.04')
        .describe('Image of the workers. One without kubeadm installs it at the first start.'),
      type: z.string().min(1).default('cpx22').describe('Server type of the workers.'),
    })
    .prefault({})
    .describe('The workers.'),
  kubernetesVersion: version('v1.34.3', /^v1\.\d+\.\d+$/).describe('Version of Kubernetes.'),
  k0s: z
    .strictObject({
      version: version('v1.34.3+k0s.0', /^v1\.\d+\.\d+(\+k0s\.\d+)?$/).describe(
        'Version of Kubernetes as k0s writes it: v1.34.3+k0s.0 is v1.34.3.',
      ),
      network: z
        .strictObject({
          provider: z.enum(['custom']).default('custom').describe('The network plugin is yours to install.'),
        })
        .optional()
        .describe('The network plugin.'),
    })
    .optional()
    .describe('What other templates configure k0s with.'),
  clusterNetwork: z
    .strictObject({
      pods: z.array(z.string()).min(1).default(['10.244.0.0/16']).describe('Networks of pods.'),
      services: z.array(z.string()).min(1).default(['10.96.0.0/12']).describe('Networks of Services.'),
    })
    .prefault({})
    .describe('Networks inside the cluster, which must not overlap with hcloudNetwork.'),
  clusterIdentity: added('Added by kcm, and not used.'),
  clusterLabels: added('Added by kcm, and not used.'),
  global: added('Added by kcm, and not used.'),
});

/** @internal */
export const HetznerValues = rules
  .reduce(
    (schema, { message, holds }) => schema.refine(holds, { message, when: ({ issues }) => issues.length === 0 }),
    fields,
  )
  .refine(({ region, hcloudNetwork }) => !hcloudNetwork.enabled || networkZones[region] === hcloudNetwork.networkZone, {
    message: 'hcloudNetwork.networkZone must be the network zone of region',
    when: ({ issues }) => issues.length === 0,
  });
/** The values of the Hetzner chart. Unknown keys are errors. */
export type HetznerValues = z.output<typeof HetznerValues>;

/** What a user sets: everything with a default may be left out. */
export type GivenHetznerValues = z.input<typeof HetznerValues>;

/** The same as JSON schema, against which Helm checks what a user sets. */
export function valuesSchema(): object {
  const withNetwork = { properties: { hcloudNetwork: { properties: { enabled: { const: true } } } } };
  const zones = Object.entries(networkZones).map(([region, networkZone]) => ({
    if: { allOf: [{ properties: { region: { const: region } } }, withNetwork] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON schema
    then: { properties: { hcloudNetwork: { properties: { networkZone: { const: networkZone } } } } },
  }));
  const { $schema: _, ...schema } = z.toJSONSchema(fields, { target: 'draft-7', io: 'input' });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    allOf: [...rules.map((rule) => rule.schema), ...zones],
  };
}

/** The defaults of the chart. */
export function defaultValues(): object {
  const {
    region: _,
    k0s: _k0s,
    kubernetesVersion: _version,
    ...values
  } = fields.parse({ controlPlane: {}, region: 'nbg1' });
  return { ...values, k0s: {} };
}
