import type { k8s } from 'cdk8s-plus-30';
import type { ConditionReason } from '../../api/conditions.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import type { Endpoint, ServiceAddress } from '../../cluster/facts.ts';

/** What a way in adds to the API server's Service. */
export interface ServiceShape {
  readonly type: 'ClusterIP' | 'LoadBalancer' | 'NodePort';
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Ports of the Kubernetes API on the Service by name; `api` is the one clients are told. */
  readonly apiPorts: { readonly api: number } & Readonly<Record<string, number>>;
  readonly apiNodePort?: number | undefined;
  readonly konnectivityNodePort?: number | undefined;
  /** Port of the tunnel that proxies of the workers dial; missing where they dial none. */
  readonly tunnelPort?: number | undefined;
  readonly spec?: Partial<k8s.ServiceSpec>;
}

/** A Gateway as the world has it, as far as an endpoint depends on it. */
export interface ObservedGateway {
  readonly spec: {
    readonly listeners: readonly ObservedListener[];
  };
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

/** Everything outside of the control plane that its endpoint depends on. */
export interface Outside {
  /** The Service's address; missing until a load balancer gave one, and where none is asked for. */
  readonly serviceAddress?: ServiceAddress | undefined;
  /** Whether the management cluster serves Gateways and TLSRoutes. */
  readonly gatewayServed?: boolean | undefined;
  /** The Gateway that the spec names; missing when there is none. */
  readonly gateway?: ObservedGateway | undefined;
  /** Labels of the control plane's own namespace: a listener may admit routes by them. */
  readonly namespaceLabels?: Readonly<Record<string, string>> | undefined;
}

/** Where everybody dials. */
export interface Reached {
  readonly endpoint: Endpoint;
  readonly konnectivityEndpoint: Endpoint;
  /** Where proxies of workers reach the tunnel; missing where they need none and dial the endpoint itself. */
  readonly tunnelEndpoint?: Endpoint | undefined;
  /** Address at which pods of the hosted cluster can reach the API server without naming a host. */
  readonly advertiseAddress?: string | undefined;
  /** The listener of the Gateway that serves the host. */
  readonly gatewayListener?: string | undefined;
}

export type EndpointDecision =
  | ({ readonly known: true } & Reached)
  | {
      readonly known: false;
      readonly reason: ConditionReason<'SyncControlPlaneEndpointReady'>;
      /** What is missing or wrong, naming what was given, and what to change. */
      readonly message: string;
      /** Where clients that know the preset endpoint already keep dialling. */
      readonly meanwhile?: Reached | undefined;
    };

/** The facts of a decision. */
export function reachedOf(decision: Extract<EndpointDecision, { known: true }>): Reached {
  const { known: _, ...reached } = decision;
  return reached;
}

/** One way to reach a hosted API server from outside: a Service shape and the rule that gives the endpoint. */
export interface ExposureStrategy {
  readonly service: ServiceShape;
  /**
   * Port the API server itself listens on. Pods of the hosted cluster reach the `kubernetes` Service at the advertised
   * address and exactly this port, so it must be one that is reachable there.
   */
  readonly securePort: number;
  /**
   * The endpoint, from what is outside.
   * @param preset what the user, or an earlier pass, has fixed: it is honoured, or refused with the reason
   */
  endpoint(cluster: HostedCluster, outside: Outside, preset: Partial<Endpoint>): EndpointDecision;
}
