// sigs.k8s.io/gateway-api v1.6.1 of test/tools/testbed/go/traefik: written by npm run import
import type { KubeObject } from '../reconciler/kube/object.ts';

export interface TLSRouteObject extends KubeObject {
  readonly spec?: {
    readonly hostnames?: readonly string[] | undefined;
    readonly parentRefs?: readonly ({
      readonly group?: string | undefined;
      readonly kind?: string | undefined;
      readonly name?: string | undefined;
      readonly namespace?: string | undefined;
      readonly port?: number | undefined;
      readonly sectionName?: string | undefined;
    })[] | undefined;
    readonly rules?: readonly ({
      readonly backendRefs?: readonly ({
        readonly group?: string | undefined;
        readonly kind?: string | undefined;
        readonly name?: string | undefined;
        readonly namespace?: string | undefined;
        readonly port?: number | undefined;
        readonly weight?: number | undefined;
      })[] | undefined;
      readonly name?: string | undefined;
    })[] | undefined;
  } | undefined;
  readonly status?: {
    readonly parents?: readonly ({
      readonly conditions?: readonly ({
        readonly lastTransitionTime?: string | undefined;
        readonly message?: string | undefined;
        readonly observedGeneration?: number | undefined;
        readonly reason?: string | undefined;
        readonly status?: string | undefined;
        readonly type?: string | undefined;
      })[] | undefined;
      readonly controllerName?: string | undefined;
      readonly parentRef?: {
        readonly group?: string | undefined;
        readonly kind?: string | undefined;
        readonly name?: string | undefined;
        readonly namespace?: string | undefined;
        readonly port?: number | undefined;
        readonly sectionName?: string | undefined;
      } | undefined;
    })[] | undefined;
  } | undefined;
}
