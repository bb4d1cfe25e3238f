import { type ConditionType, isConditionType, stepTypes } from '../../constructs/api/conditions.ts';
import type { Condition, HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import type { KubeObject } from '../kube/object.ts';
import { isFault, waitedFor, withEtcdFault } from '../status/waited-for.ts';

/** A HostedControlPlane as it is stored, also one whose spec is refused. */
export interface StoredControlPlane extends KubeObject {
  readonly spec?: {
    readonly version?: string;
    readonly controlPlaneEndpoint?: { readonly host?: string; readonly port?: number };
  };
  readonly status?: HostedControlPlaneStatus;
}

/** A condition of a known type. */
export type KnownCondition = Condition & { readonly type: ConditionType };

/** The steps of a control plane, in the order in which they become true. */
export function stepsOf({ status }: StoredControlPlane): KnownCondition[] {
  const conditions = (status?.conditions ?? []).filter(isKnown);
  return stepTypes.flatMap((type) => conditions.find((condition) => condition.type === type) ?? []);
}

function known({ status }: StoredControlPlane, type: ConditionType): KnownCondition | undefined {
  return status?.conditions?.filter(isKnown).find((condition) => condition.type === type);
}

export function conditionOf(object: StoredControlPlane, type: ConditionType): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

/** The one condition because of which a control plane is not Ready; undefined when it is, or nothing is reported yet. */
export function blockerOf(object: StoredControlPlane): Condition | undefined {
  const ready = conditionOf(object, 'Ready');
  if (ready === undefined || ready.status === 'True') return undefined;
  const [blocking] = waitedFor(withEtcdFault(stepsOf(object), known(object, 'EtcdClusterHealthy')));
  return blocking?.reason === ready.reason ? blocking : ready;
}

/** How a step is, in one word. */
export function stateOf(condition: KnownCondition): 'ok' | 'waits' | 'fails' | 'unknown' {
  if (condition.status === 'True') return 'ok';
  if (condition.status === 'Unknown') return 'unknown';
  return isFault(condition) ? 'fails' : 'waits';
}

function isKnown(condition: Condition): condition is KnownCondition {
  return isConditionType(condition.type);
}
