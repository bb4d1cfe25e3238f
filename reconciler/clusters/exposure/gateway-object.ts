import { admittedHostsAnnotation, outsidePortAnnotation } from '../../../constructs/api/group.ts';
import type { ObservedGateway } from '../../../constructs/control-plane/exposure/strategy.ts';
import { itemsOf } from '../../../constructs/cluster/foreign-values.ts';
import type { KubeObject } from '../../kube/object.ts';

/** A condition that the controller of a Gateway reports about the Gateway, one of its listeners or a route. */
export interface ReportedCondition {
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** Conditions without generation count as current, because the field is optional. */
export function isCurrent({ observedGeneration }: ReportedCondition, { metadata }: KubeObject): boolean {
  return observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
}

/** The fields of a Gateway that the operator and hcp read, of which constructs declare those that they render from. */
export interface GatewayObject extends KubeObject, Omit<ObservedGateway, 'metadata'> {
  readonly spec?: ObservedGateway['spec'] & { readonly gatewayClassName?: string };
  readonly status?: {
    readonly conditions?: readonly ReportedCondition[];
    readonly addresses?: readonly { readonly type?: string; readonly value: string }[];
    readonly listeners?: readonly {
      readonly name: string;
      readonly conditions?: readonly ReportedCondition[];
    }[];
  };
}

/**
 * The fields of a Gateway that matter to the control planes behind it, as text to compare. It excludes the number of
 * attached routes, because that changes with every new control plane and would trigger reconciles of all others.
 */
export function gatewayState({ metadata, spec, status }: GatewayObject): string {
  const listeners = itemsOf(status?.listeners).map(({ name, conditions }) => [
    name,
    itemsOf(conditions)
      .map(({ type, status: value }) => `${type}=${value}`)
      .sort(),
  ]);
  const said = [admittedHostsAnnotation, outsidePortAnnotation].map((name) => metadata.annotations?.[name]);
  return JSON.stringify([metadata.uid, said, spec, itemsOf(status?.addresses).map(({ value }) => value), listeners]);
}
