import type { ServiceAddress } from '../../../constructs/cluster/facts.ts';
import type { KubeObject } from '../../kube/object.ts';

/** The fields of a Service that the operator reads. */
export interface ServiceObject extends KubeObject {
  readonly spec?: { readonly clusterIP?: string; readonly type?: string; readonly loadBalancerClass?: string };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly ServiceAddress[] } };
}
