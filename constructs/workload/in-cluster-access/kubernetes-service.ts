import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import type { RenderedObject } from '../../control-plane/chart.ts';
import { proxyLabels } from './proxy.ts';

/** The Service at which pods reach their API server. */
export const kubernetesService = { name: 'kubernetes', namespace: 'default' } as const;

export interface KubernetesServiceProps {
  /** Whether the Service selects the proxy of the node. */
  readonly reachesProxy: boolean;
}

/**
 * The Service `kubernetes`. The API server creates it and never updates it. The operator applies only the fields that
 * select the proxies. Without proxies it applies the Service without these fields, which releases them. It always
 * renders the Service, because it deletes objects that are no longer rendered.
 */
export class KubernetesService extends Construct {
  constructor(scope: Construct, id: string, { reachesProxy }: KubernetesServiceProps) {
    super(scope, id);
    new ApiObject(this, 'service', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: kubernetesService,
      ...(reachesProxy
        ? {
            spec: {
              selector: proxyLabels,
              internalTrafficPolicy: 'Local',
              // A node has only one proxy, so its readiness must not matter.
              publishNotReadyAddresses: true,
            },
          }
        : {}),
    });
  }
}

/** Whether the Service among these objects selects proxies. Otherwise its EndpointSlices of proxies are stale. */
export function reachesProxies(objects: readonly RenderedObject[]): boolean {
  return objects.some(
    ({ kind, metadata, spec }) =>
      kind === 'Service' &&
      metadata.name === kubernetesService.name &&
      metadata.namespace === kubernetesService.namespace &&
      spec !== undefined,
  );
}
