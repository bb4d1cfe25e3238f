import { z } from 'zod';
import { address, cidr, host, hostName } from './address.ts';
import { objectName } from './object-name.ts';
import { annotationSet, labelKey } from './pod-metadata-spec.ts';
import { type ValidationRule, withRules } from './validation-rule.ts';

/** A Gateway with a wildcard TLS passthrough listener. */
export const Gateway = z.object({
  namespace: z.string().min(1).max(63).describe('Namespace of the Gateway.'),
  name: z.string().min(1).max(253).describe('Name of the Gateway.'),
});
export type Gateway = z.output<typeof Gateway>;

const LoadBalancer = z.object({
  annotations: annotationSet()
    .optional()
    .describe('Annotations of the Service, with which most clouds configure their load balancers.'),
  loadBalancerClass: labelKey(
    'must be a name, with or without the domain of its implementation before it, such as example.org/internal',
  )
    .optional()
    .describe(
      'Load balancer implementation to use; the default of the management cluster when unset. It cannot change once the endpoint is set.',
    ),
  loadBalancerIP: address()
    .optional()
    .describe('Address to request, if the implementation supports it; any address when unset.'),
  loadBalancerSourceRanges: z
    .array(cidr().describe('CIDR.'))
    .max(256)
    .optional()
    .describe('CIDRs of the clients that may connect; all clients when unset.'),
  port: z.int32().min(1).max(65535).default(6443).describe('Port of the API server on the load balancer.'),
});

export type LoadBalancerExposure = z.output<typeof LoadBalancer>;

const nodePort = () => z.int32().min(30000).max(32767);

const NodePort = withRules(
  z.object({
    address: host().describe(
      'IP address or host name at which workers and users reach the nodes of the management cluster.',
    ),
    port: nodePort().describe('Node port of the API server, 30000 to 32767.'),
    konnectivityPort: nodePort().describe(
      'Node port to which the konnectivity agents of the workers connect, 30000 to 32767.',
    ),
  }),
  [
    {
      rule: 'self.port != self.konnectivityPort',
      message: 'port and konnectivityPort must differ, because one node port leads to one port: change one of them',
      fieldPath: '.konnectivityPort',
      holds: ({ port, konnectivityPort }) => port !== konnectivityPort,
    },
  ],
);

export type NodePortExposure = z.output<typeof NodePort>;

/** The ingress controller distinguishes them by host name only. */
const differentHosts: ValidationRule<{ apiHost: string; konnectivityHost: string; tunnelHost?: string | undefined }> = {
  rule: "self.apiHost != self.konnectivityHost && (has(self.tunnelHost) ? self.tunnelHost != self.apiHost && self.tunnelHost != self.konnectivityHost : self.konnectivityHost != 'tunnel.' + self.apiHost)",
  message:
    'apiHost, konnectivityHost and tunnelHost, which is tunnel.<apiHost> when unset, must be three different names, because the ingress controller distinguishes them by name only: rename the duplicate',
  holds: ({ apiHost, konnectivityHost, tunnelHost = `tunnel.${apiHost}` }) =>
    new Set([apiHost, konnectivityHost, tunnelHost]).size === 3,
};

const Ingress = withRules(
  z.object({
    apiHost: hostName().describe('Host name of the API server. DNS must resolve it to the ingress controller.'),
    konnectivityHost: hostName().describe('Host name to which the konnectivity agents of the workers connect.'),
    tunnelHost: hostName()
      .optional()
      .describe(
        'Host name to which the proxies of the workers connect. DNS must resolve it to the ingress controller. When unset, they use tunnel.<apiHost> with inClusterAccess Proxy; with Policy there are no proxies, and the Service kubernetes of the hosted cluster leads nowhere.',
      ),
    port: z.int32().min(1).max(65535).default(443).describe('TLS port of the ingress controller.'),
    controller: z
      .enum(['haproxy', 'haproxy-ingress', 'nginx', 'traefik'])
      .default('haproxy')
      .describe(
        'Ingress controller for whose TLS passthrough the objects are written: haproxy (haproxytech), haproxy-ingress (jcmoraisjr), nginx (ingress-nginx) or traefik (IngressRouteTCP).',
      ),
    className: objectName()
      .optional()
      .describe(
        'Class of the Ingress objects; the default class of the management cluster when unset. Not used for traefik.',
      ),
    annotations: annotationSet()
      .optional()
      .describe(
        'Additional annotations of the Ingress objects. They take precedence over the annotations for TLS passthrough.',
      ),
    deploy: z
      .boolean()
      .default(true)
      .describe('Create the Ingress objects. If false, you route the host names to the Service s-<cluster> yourself.'),
  }),
  [differentHosts],
);

export type IngressExposure = z.output<typeof Ingress>;

/**
 * The exposure strategies, of which exactly one may be set. The rules of the CRD, the types and the chart derive from this list: a further
 * strategy is a field here, and a builder in `control-plane/exposure/exposure.ts`.
 */
export const ExposureSpec = z.object({
  gateway: Gateway.optional().describe(
    'Share a Gateway: all control planes have one address, and the Gateway routes by host name.',
  ),
  ingress: Ingress.optional().describe(
    'Share an ingress controller with TLS passthrough, by host names that you choose.',
  ),
  loadBalancer: LoadBalancer.optional().describe('A dedicated Service of type LoadBalancer.'),
  nodePort: NodePort.optional().describe('Node ports of the management cluster.'),
});

type Settings = z.output<typeof ExposureSpec>;

/** Name of an exposure strategy: its field in `exposure`. */
export type ExposureKind = keyof Settings;

/** Every exposure strategy, in the order of messages. */
export const exposureKinds = Object.keys(ExposureSpec.shape) as ExposureKind[];

/** The part of a spec that sets the exposure strategy. */
export interface ExposureSource {
  readonly gateway?: Gateway | undefined;
  readonly exposure?: Settings | undefined;
}

type ExposureBy = {
  [Kind in ExposureKind]: { readonly kind: Kind } & { readonly [Field in Kind]: NonNullable<Settings[Field]> };
};

/** The exposure strategy, with one shape per kind. */
export type Exposure<Kind extends ExposureKind = ExposureKind> = ExposureBy[Kind];

/** The exposure strategies with one address and port for many control planes, which host names distinguish. */
export type SharedExposure = Exposure<'gateway' | 'ingress'>;

/** Whether clients must name this cluster in TLS, because many clusters share the address of the endpoint. */
export function isShared(exposure: Exposure): exposure is SharedExposure {
  return exposure.kind === 'gateway' || exposure.kind === 'ingress';
}

/** Every exposure strategy that is set. A valid HostedControlPlane has exactly one, a template at most one. */
export function exposuresOf({ gateway, exposure = {} }: ExposureSource): Exposure[] {
  const set = exposureKinds.flatMap((kind) => (exposure[kind] ? [{ kind, [kind]: exposure[kind] } as Exposure] : []));
  return gateway ? [{ kind: 'gateway', gateway }, ...set] : set;
}

/** The exposure strategy of a valid spec. Throws when the spec was never validated and sets none or several. */
export function exposureOf(spec: ExposureSource): Exposure {
  const [exposure, ...more] = exposuresOf(spec);
  if (!exposure || more.length > 0) {
    throw new Error(`exactly one exposure strategy is needed, ${more.length + (exposure ? 1 : 0)} are set`);
  }
  return exposure;
}
