import type { ServiceAddress } from '../../constructs/cluster/facts.ts';
import type { KubeObject } from './object.ts';

/** A Service as the API returns it, as far as it is read here. */
export interface ServiceObject extends KubeObject {
  readonly spec?: { readonly clusterIP?: string; readonly type?: string };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly ServiceAddress[] } };
}
