import type { ObservedGateway } from '../../constructs/control-plane/exposure/strategy.ts';
import type { KubeObject } from '../kube/object.ts';

/** A Gateway as the API returns it, as far as it is read here. */
export interface GatewayObject extends KubeObject, ObservedGateway {
  readonly status?: {
    readonly addresses?: readonly { readonly type?: string; readonly value: string }[];
    readonly listeners?: readonly {
      readonly name: string;
      readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    }[];
  };
}

/**
 * What of a Gateway matters to the control planes behind it, as text to compare. How many routes are attached is left
 * out: it changes with every control plane that comes, and would have all the others looked at.
 */
export function gatewayState({ metadata, spec, status }: GatewayObject): string {
  const listeners = status?.listeners?.map(({ name, conditions = [] }) => [
    name,
    conditions.map(({ type, status: value }) => `${type}=${value}`).sort(),
  ]);
  return JSON.stringify([metadata.uid, spec, status?.addresses?.map(({ value }) => value), listeners]);
}
