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
