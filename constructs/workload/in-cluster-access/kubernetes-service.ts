import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { apiServerSlice } from '../../api/resources.ts';
import { proxyLabels } from './proxy.ts';
import { serviceProxyLabels } from './service-proxy.ts';

/** The Service at which pods reach their API server. */
export const kubernetesService = { name: 'kubernetes', namespace: 'default' } as const;

export interface KubernetesServiceProps {
  /** What the Service selects: the proxy of the node, pods anywhere, or nothing. */
  readonly reaches: 'node' | 'pods' | undefined;
}

/**
 * The Service `kubernetes`. The API server creates it and never updates it. The operator applies only the fields that
 * select the proxies. Without proxies it applies the Service without these fields, which releases them. It always
 * renders the Service, because it deletes objects that are no longer rendered.
 */
export class KubernetesService extends Construct {
  constructor(scope: Construct, id: string, { reaches }: KubernetesServiceProps) {
    super(scope, id);
    new ApiObject(this, 'service', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: kubernetesService,
      ...(reaches ? { spec: selections[reaches] } : {}),
    });
  }
}

const selections = {
  node: {
    selector: proxyLabels,
    internalTrafficPolicy: 'Local',
    // A node has only one proxy, so its readiness must not matter.
    publishNotReadyAddresses: true,
  },
  pods: { selector: serviceProxyLabels },
} as const;

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined };
  readonly spec?: unknown;
}

/**
 * Whether an EndpointSlice of the Service is stale with these objects, although no controller deletes it: a Service without
 * selector keeps the slices of its proxies, and an API server that ends keeps the slice with the address it advertised.
 */
export function isStaleSlice(slice: string, objects: readonly Named[]): boolean {
  const selects = objects.some(
    ({ kind, metadata, spec }) =>
      kind === 'Service' &&
      metadata.name === kubernetesService.name &&
      metadata.namespace === kubernetesService.namespace &&
      spec !== undefined,
  );
  if (slice !== apiServerSlice) return !selects;
  // Without either, API servers or the operator write it.
  return selects || objects.some(({ kind }) => kind === 'MutatingAdmissionPolicy');
}
