import type { ObservedService } from '../constructs/control-plane/exposure/way-in.ts';
import type { KubeObject } from './kube/object.ts';

/** A Service as the API returns it, as far as it is read here. */
export interface ServiceObject extends KubeObject {
  readonly spec?: { readonly clusterIP?: string };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: ObservedService['loadBalancer'] } };
}
