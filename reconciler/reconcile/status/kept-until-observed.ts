import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import { type ConditionReason, conditionTypes } from '../../../constructs/api/conditions.ts';
import { type ConditionUpdates, conditionUpdate } from '../../engine/condition-update.ts';

/**
 * A condition that was True for this generation of the spec stays True until the operator has looked again: its restart
 * says nothing about the control plane.
 */
export function keptUntilObserved(
  updates: ConditionUpdates,
  { metadata, status }: HostedControlPlaneObject,
): ConditionUpdates {
  const kept = conditionTypes.flatMap((type) => {
    if (updates[type]?.reason !== 'NotObserved') return [];
    const before = status?.conditions?.find((condition) => condition.type === type);
    if (before?.status !== 'True' || before.observedGeneration !== metadata.generation) return [];
    return [[type, conditionUpdate('True', before.reason as ConditionReason, before.message)] as const];
  });
  return { ...updates, ...Object.fromEntries(kept) };
}
