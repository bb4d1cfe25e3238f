import type { EventNote } from '../kube/events.ts';
import type { ExpiringCertificate } from './newly-expiring.ts';

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

/** Told on the HostedControlPlane, once for a certificate that was not renewed when it should have been. */
export function certificateExpiring({ kind, secret, notAfter, renewsAt }: ExpiringCertificate): EventNote {
  const warning = { type: 'Warning', action: 'WatchCertificates' } as const;
  if (kind.endsWith('CA')) {
    return {
      ...warning,
      reason: 'CAExpiring',
      note: `the CA in Secret ${secret} ends on ${notAfter}, and its replacement, due since ${renewsAt}, has not come to an end: see the condition CARotationReady`,
    };
  }
  return {
    ...warning,
    reason: 'CertificateExpiring',
    note:
      renewsAt === undefined
        ? `the certificate in Secret ${secret} ends on ${notAfter} and is not ours to renew: renew it, or delete the Secret and one is made`
        : `the certificate in Secret ${secret} is late for its renewal, the first of kind ${kind} ends on ${notAfter}: see the conditions CACertificatesReady and CertificatesReady`,
  };
}
