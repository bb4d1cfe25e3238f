// github.com/cert-manager/cert-manager v1.21.2 of test/tools/testbed/go/cert-manager: written by npm run import
import type { KubeObject } from '../reconciler/kube/object.ts';

export interface CertificateRequestObject extends KubeObject {
  readonly spec?: {
    readonly duration?: string | undefined;
    readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
    readonly groups?: readonly string[] | undefined;
    readonly isCA?: boolean | undefined;
    readonly issuerRef?: {
      readonly group?: string | undefined;
      readonly kind?: string | undefined;
      readonly name?: string | undefined;
    } | undefined;
    readonly request?: string | undefined;
    readonly uid?: string | undefined;
    readonly usages?: readonly string[] | undefined;
    readonly username?: string | undefined;
  } | undefined;
  readonly status?: {
    readonly ca?: string | undefined;
    readonly certificate?: string | undefined;
    readonly conditions?: readonly ({
      readonly lastTransitionTime?: string | undefined;
      readonly message?: string | undefined;
      readonly reason?: string | undefined;
      readonly status?: string | undefined;
      readonly type?: string | undefined;
    })[] | undefined;
    readonly failureTime?: string | undefined;
  } | undefined;
}
