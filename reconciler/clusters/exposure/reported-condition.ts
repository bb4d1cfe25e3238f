import type { KubeObject } from '../../kube/object.ts';

/** A condition that the controller of a Gateway reports about the Gateway, one of its listeners or a route. */
export interface ReportedCondition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
  readonly reason?: string;
  readonly message?: string;
}

/** Conditions without generation count as current, because the field is optional. */
export function isCurrent({ observedGeneration }: ReportedCondition, { metadata }: KubeObject): boolean {
  return observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
}
