import type { k8s } from 'cdk8s-plus-30';
import type { ConditionReason } from '../../api/conditions.ts';
import type { Endpoint } from '../facts.ts';

/** What a way in adds to the API server's Service. */
export interface ServiceShape {
  readonly type: 'ClusterIP' | 'LoadBalancer' | 'NodePort';
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Ports of the Kubernetes API on the Service by name; `api` is the one clients are told. */
  readonly apiPorts: { readonly api: number } & Readonly<Record<string, number>>;
  readonly apiNodePort?: number | undefined;
  readonly konnectivityNodePort?: number | undefined;
  readonly spec?: Partial<k8s.ServiceSpec>;
}

/** The Service as the world has it, as far as an endpoint depends on it. */
export interface ObservedService {
  readonly loadBalancer: readonly { readonly ip?: string | undefined; readonly hostname?: string | undefined }[];
}

export type EndpointDecision =
  | {
      readonly known: true;
      readonly endpoint: Endpoint;
      readonly konnectivityEndpoint: Endpoint;
      readonly advertiseAddress?: string | undefined;
    }
  | {
      readonly known: false;
      readonly reason: ConditionReason<'APIServerServiceReady'>;
      readonly message: string;
    };

/** One way to reach a hosted API server from outside: a Service shape and the rule that gives the endpoint. */
export interface WayIn {
  readonly service: ServiceShape;
  /**
   * Port the API server itself listens on. Pods of the hosted cluster reach the `kubernetes` Service at the advertised
   * address and exactly this port, so it must be one that is reachable there.
   */
  readonly securePort: number;
  endpoint(service: ObservedService | undefined): EndpointDecision;
}
