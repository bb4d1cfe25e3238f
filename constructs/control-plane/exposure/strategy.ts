import type { k8s } from 'cdk8s-plus-30';
import type { ConditionReason } from '../../api/conditions.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import type { Endpoint, ServiceAddress } from '../../cluster/facts.ts';

/** The settings of an exposure strategy for the API server's Service. */
export interface ServiceShape {
  readonly type: 'ClusterIP' | 'LoadBalancer' | 'NodePort';
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Ports of the Kubernetes API on the Service by name. Clients use `api`. */
  readonly apiPorts: { readonly api: number } & Readonly<Record<string, number>>;
  readonly apiNodePort?: number | undefined;
  readonly konnectivityNodePort?: number | undefined;
  /** Port of the tunnel to which the proxies of the workers connect; missing where there is no tunnel. */
  readonly tunnelPort?: number | undefined;
  readonly spec?: Partial<k8s.ServiceSpec>;
}

/** The observed fields of a Gateway on which an endpoint depends. */
export interface ObservedGateway {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> | undefined } | undefined;
  readonly spec?: { readonly listeners?: readonly ObservedListener[] | undefined } | undefined;
}

export interface ObservedListener {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly hostname?: string | undefined;
  readonly tls?: { readonly mode?: string | undefined } | undefined;
  readonly allowedRoutes?:
    | {
        readonly kinds?: readonly { readonly group?: string | undefined; readonly kind: string }[] | undefined;
        readonly namespaces?:
          | { readonly from?: string | undefined; readonly selector?: k8s.LabelSelector | undefined }
          | undefined;
      }
    | undefined;
}

/** Everything outside the control plane that its endpoint depends on. */
export interface EndpointInput {
  /** The Service's address; missing until a load balancer has assigned one, and where none is requested. */
  readonly serviceAddress?: ServiceAddress | undefined;
  /** Whether the management cluster serves Gateways and TLSRoutes. */
  readonly gatewayServed?: boolean | undefined;
  /** The Gateway that the spec names; missing when it does not exist. */
  readonly gateway?: ObservedGateway | undefined;
  /** Host names that the control plane holds already, in lower case. It keeps them, whatever the Gateway admits. */
  readonly heldHosts?: readonly string[] | undefined;
  /** Whether the operator sees the claims of all namespaces; otherwise two of them could take the same host. */
  readonly seesEveryClaim?: boolean | undefined;
  /** Labels of the control plane's namespace, by which a listener may allow routes. */
  readonly namespaceLabels?: Readonly<Record<string, string>> | undefined;
}

/** The endpoints of a control plane. */
export interface ResolvedEndpoints {
  readonly endpoint: Endpoint;
  readonly konnectivityEndpoint: Endpoint;
  /** Endpoint of the tunnel for the proxies of the workers; missing where they connect to the endpoint itself. */
  readonly tunnelEndpoint?: Endpoint | undefined;
  /** IP address at which pods of the hosted cluster can reach the API server. */
  readonly advertiseAddress?: string | undefined;
  /** The listener of the Gateway that serves the host. */
  readonly gatewayListener?: string | undefined;
}

export type EndpointDecision =
  | ({ readonly known: true } & ResolvedEndpoints)
  | {
      readonly known: false;
      readonly reason: ConditionReason<'SyncControlPlaneEndpointReady'>;
      /** What is wrong, what was found, and what to change. */
      readonly message: string;
      /** The endpoints that clients of the preset endpoint continue to use. */
      readonly meanwhile?: ResolvedEndpoints | undefined;
    };

/** An endpoint that the spec rules out, whatever is observed. */
export type Contradiction = Extract<EndpointDecision, { known: false }>;

/** The facts of a decision. */
export function resolvedEndpoints(decision: Extract<EndpointDecision, { known: true }>): ResolvedEndpoints {
  const { known: _, ...reached } = decision;
  return reached;
}

/** One way to expose a hosted API server: the shape of its Service and the rule that determines the endpoint. */
export interface ExposureStrategy {
  readonly service: ServiceShape;
  /**
   * Port that the API server itself listens on. Pods of the hosted cluster reach the `kubernetes` Service at the
   * advertised address and exactly this port, so it must be reachable there.
   */
  readonly securePort: number;
  /**
   * Why the spec of this strategy contradicts an endpoint that is fixed; undefined when it does not, or when that
   * depends on observed objects.
   */
  contradiction(fixed: Partial<Endpoint>): Contradiction | undefined;
  /**
   * Determines the endpoint from the observed objects.
   * @param preset what the user, or an earlier reconcile, has fixed: it is kept, or refused with a reason
   */
  endpoint(cluster: HostedCluster, outside: EndpointInput, preset: Partial<Endpoint>): EndpointDecision;
}
