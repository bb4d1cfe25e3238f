import type { EventNote } from './kube/events.ts';

const reverted = { type: 'Warning', reason: 'ForeignChangeReverted', action: 'Revert' } as const;

/** Told on the object that somebody has changed. */
export const foreignChangeReverted: EventNote = {
  ...reverted,
  note: 'somebody changed fields that the HostedControlPlane determines; they were put right',
};

/** Told on the HostedControlPlane: who reads events of the management cluster may not see the hosted one. */
export function hostedChangeReverted(what: string): EventNote {
  return {
    ...reverted,
    note: `somebody changed fields of ${what} in the hosted cluster that the HostedControlPlane determines; they were put right`,
  };
}

/** Told on the HostedControlPlane of a user whose arguments do not count. */
export function argumentsOverruled(component: string, flags: readonly string[]): EventNote {
  return {
    type: 'Warning',
    reason: 'ControllerArgumentTakesPrecedence',
    action: 'ArgumentOverridden',
    note: `${component}: ${flags.join(', ')} cannot be set by args, the control plane depends on our value`,
  };
}
