import type { ExposureSource } from '../../../constructs/api/exposure-spec.ts';
import type { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import type { KubeObject } from '../../kube/object.ts';

/** A HostedControlPlane as the API returns it, also one whose spec is refused, or that another version has written. */
export interface HostedControlPlaneObject extends KubeObject {
  readonly spec?: ExposureSource & Foreign<Omit<HostedControlPlaneSpec, keyof ExposureSource>>;
  readonly status?: Partial<HostedControlPlaneStatus>;
}

type Foreign<T> = T extends readonly unknown[] | string | number | boolean
  ? T
  : { readonly [Field in keyof T]?: Foreign<T[Field]> | undefined };
