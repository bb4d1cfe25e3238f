import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { type OverruledArguments, overruledMessage } from '../../../constructs/ineffective-settings.ts';
import type { EventNote } from '../../kube/events.ts';
import type { ExpiringCertificate } from './newly-expiring.ts';

const reverted = { type: 'Warning', reason: 'ForeignChangeReverted', action: 'Revert' } as const;

/** Event on an object that another client has changed. */
export const foreignChangeReverted: EventNote = {
  ...reverted,
  note: 'another client changed fields that the HostedControlPlane determines, and the operator reverted them: change the HostedControlPlane instead',
};

/**
 * Event on the HostedControlPlane, because readers of events in the management cluster may not see those of the hosted
 * cluster.
 */
export function hostedChangeReverted(what: string): EventNote {
  return {
    ...reverted,
    note: `another client changed fields of ${what} in the hosted cluster that the HostedControlPlane determines, and the operator reverted them: change the HostedControlPlane instead`,
  };
}

/** Event on a Namespace that was deleted with all pods of a control plane, of which a final backup was requested. */
export function finalBackupLost(controlPlane: string): EventNote {
  return {
    type: 'Warning',
    reason: 'FinalBackupImpossible',
    action: 'TakeFinalBackup',
    note: `the namespace was deleted with all pods, so that no final backup of HostedControlPlane ${controlPlane} could be taken: delete a control plane before its namespace`,
  };
}

/** Event on the HostedControlPlane when its deletion leaves everything as it is. */
export function controlPlaneLeft(cluster: string | undefined): EventNote {
  return {
    type: 'Warning',
    reason: 'ControlPlaneLeft',
    action: 'Delete',
    note: `it was deleted with --cascade=orphan: its pods keep running, and the operator renews their certificates, takes backups and replaces members no more: create a HostedControlPlane for the Cluster again, which takes them over, or delete all objects with the label ${clusterNameLabel}=${cluster ?? ''}`,
  };
}

/** Event on the HostedControlPlane when a person has deleted a Secret that cannot be made again. */
export function secretReplaced(name: string): EventNote {
  return {
    type: 'Warning',
    reason: 'SecretDeleted',
    action: 'ReplaceSecret',
    note: `Secret ${name} was deleted, although it cannot be made again: the operator has put its content into another one of that name`,
  };
}

/** Event on the HostedControlPlane when arguments of the user have no effect. */
export function argumentsOverruled(overruled: OverruledArguments): EventNote {
  return {
    type: 'Warning',
    reason: 'ControllerArgumentTakesPrecedence',
    action: 'ArgumentOverridden',
    note: overruledMessage(overruled),
  };
}

/** Event on the HostedControlPlane, once for each certificate that was not renewed in time. */
export function certificateExpiring({ kind, secret, notAfter, renewsAt }: ExpiringCertificate): EventNote {
  const warning = { type: 'Warning', action: 'WatchCertificates' } as const;
  if (kind.endsWith('CA')) {
    return {
      ...warning,
      reason: 'CAExpiring',
      note: `the CA in Secret ${secret} expires at ${notAfter}, and its replacement, due since ${renewsAt}, is not complete: see the condition CARotationReady`,
    };
  }
  return {
    ...warning,
    reason: 'CertificateExpiring',
    note:
      renewsAt === undefined
        ? `the certificate in Secret ${secret} expires at ${notAfter}, and the operator does not renew it, because a user provided it: renew it, or delete the Secret so that the operator issues a new certificate`
        : `the renewal of the certificate in Secret ${secret} is late, and the first certificate of kind ${kind} expires at ${notAfter}: see the conditions CACertificatesReady and CertificatesReady`,
  };
}

/** Event on the HostedControlPlane for each certificate that a person has requested. */
export function kubeconfigSigned(signed: {
  readonly requester: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly until: string;
  readonly request: string;
}): EventNote {
  const { requester, user, groups, until, request } = signed;
  const member = groups.length > 0 ? ` in ${groups.join(', ')}` : '';
  return {
    type: 'Normal',
    reason: 'KubeconfigSigned',
    action: 'SignKubeconfig',
    // The end may be cut off: what names the certificate comes first.
    note: `the operator signed for ${requester}, in CertificateSigningRequest ${request}, a client certificate that is valid until ${until}, for user ${user}${member}`,
  };
}
