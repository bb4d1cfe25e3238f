import { type ExposureSource, exposuresOf, type Gateway } from '../../constructs/api/exposure-spec.ts';
import { type ConditionType, stepTypes } from '../../constructs/api/conditions.ts';
import type { Condition, HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import type { KubeObject } from '../kube/object.ts';
import { isFault, waitedFor, withEtcdFault } from '../reconcile/status/waited-for.ts';

/** A HostedControlPlane as it is stored, also one whose spec is refused. */
export interface StoredControlPlane extends KubeObject {
  readonly spec?: ExposureSource & {
    readonly version?: string;
    readonly controlPlaneEndpoint?: { readonly host?: string; readonly port?: number };
  };
  readonly status?: HostedControlPlaneStatus;
}

/** The Gateway that a control plane names; undefined if it is exposed in another way. */
export function gatewayOf({ spec }: StoredControlPlane): Gateway | undefined {
  return exposuresOf(spec ?? {}).find((exposure) => exposure.kind === 'gateway')?.gateway;
}

/** A condition of a known type. */
export type KnownCondition = Condition & { readonly type: ConditionType };

/** The steps of a control plane, in the order in which they become true. */
export function stepsOf(object: StoredControlPlane): KnownCondition[] {
  return stepTypes.flatMap((type) => conditionOf(object, type) ?? []);
}

/** A condition by its type; undefined until the operator reports it. */
export function conditionOf({ status }: StoredControlPlane, type: ConditionType): KnownCondition | undefined {
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found && { ...found, type };
}

/** The one condition because of which a control plane is not Ready; undefined when it is, or nothing is reported yet. */
export function blockerOf(object: StoredControlPlane): KnownCondition | undefined {
  const ready = conditionOf(object, 'Ready');
  if (ready === undefined || ready.status === 'True') return undefined;
  const [blocking] = waitedFor(withEtcdFault(stepsOf(object), conditionOf(object, 'EtcdClusterHealthy')));
  return blocking?.reason === ready.reason ? blocking : ready;
}

/** What a person reads of a control plane that has no conditions yet. */
export const nothingReported = 'nothing is reported yet: does the operator run?';

/** How a step is, in one word. */
export function stateOf(condition: KnownCondition): 'ok' | 'waits' | 'fails' | 'unknown' {
  if (condition.status === 'True') return 'ok';
  if (condition.status === 'Unknown') return 'unknown';
  return isFault(condition) ? 'fails' : 'waits';
}
