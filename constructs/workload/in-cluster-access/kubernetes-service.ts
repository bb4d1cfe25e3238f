import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import type { RenderedObject } from '../../control-plane/chart.ts';
import { proxyLabels } from './proxy.ts';

/** What pods know their API server by. */
export const kubernetesService = { name: 'kubernetes', namespace: 'default' } as const;

export interface KubernetesServiceProps {
  /** Whether the Service leads to the node's own proxy. */
  readonly reachesProxy: boolean;
}

/**
 * The Service `kubernetes`, which the API server makes and only ever makes: what is applied here are the few fields that
 * lead it to the proxies. Without proxies it is applied without them, which gives them back; it is never left out, for
 * what is no longer rendered is deleted.
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
              // A node has one proxy; whatever is thought of it, there is no other to turn to.
              publishNotReadyAddresses: true,
            },
          }
        : {}),
    });
  }
}

/** Whether the Service among these objects leads to proxies: else the endpoints it has from them lead nowhere. */
export function reachesProxies(objects: readonly RenderedObject[]): boolean {
  return objects.some(
    ({ kind, metadata, spec }) =>
      kind === 'Service' &&
      metadata.name === kubernetesService.name &&
      metadata.namespace === kubernetesService.namespace &&
      spec !== undefined,
  );
}
