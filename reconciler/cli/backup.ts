import { backupAnnotation } from '../../constructs/api/group.ts';
import { changingControlPlane, findingControlPlane, followingControlPlane } from './access.ts';
import { type Command, type Session, clusterArgument, hasSwitch } from './command.ts';
import { stateOf } from '../reconcile/status/state.ts';
import { askingForPause, changeControlPlane, type ControlPlane, findLasting, refusePaused } from './control-plane.ts';
import { printRequested, type Progress } from './follow.ts';

/** Requests a backup with the annotation that users can also set. */
export const backup: Command = {
  name: 'backup',
  examples: [
    ['backup prod -n team-a', 'asks for a backup'],
    ['backup prod --wait --timeout 10m', 'waits until it is stored, and prints its name'],
    ['backup prod --retry', 'tries it again, after you have corrected the Secret of its bucket'],
  ],
  usage: 'CLUSTER [--retry] [--wait]',
  summary: 'Takes a backup.',
  options: {
    retry: { type: 'boolean', meaning: 'also while backups fail because of their Secret, after you have corrected it' },
    wait: { type: 'boolean', meaning: 'wait until the backup is stored, and print its name' },
  },
  access: [
    findingControlPlane,
    askingForPause,
    followingControlPlane('--wait'),
    changingControlPlane('requesting a backup'),
  ],
  prepare(given) {
    const cluster = clusterArgument(given);
    const options = { retry: hasSwitch(given, 'retry'), wait: hasSwitch(given, 'wait') };
    return (session) => takeBackup(session, cluster, options);
  },
};

interface Options {
  readonly retry: boolean;
  readonly wait: boolean;
}

async function takeBackup(session: Session, cluster: string, { retry, wait }: Options): Promise<void> {
  const controlPlane = await findLasting(session, cluster);
  const { metadata, spec, status } = controlPlane.object;
  if (!spec.etcd.backup) {
    throw new Error(
      `HostedControlPlane ${metadata.name} has no backups: set spec.etcd.backup with a bucket and a schedule`,
    );
  }
  await refusePaused(session, controlPlane);
  const refusal = refusalOf(controlPlane, retry);
  if (refusal !== undefined) throw new Error(`no backup of ${controlPlane.cluster} was requested: ${refusal}`);

  const request = new Date(session.now()).toISOString();
  await changeControlPlane(session, { metadata }, { metadata: { annotations: { [backupAnnotation]: request } } });
  const seen = { request, lastAttemptTime: status?.etcd?.backup?.lastAttemptTime };
  const look = (now: ControlPlane) => backupProgress(now, seen);
  const said = `backup of ${controlPlane.cluster} requested`;
  await printRequested(session, controlPlane, { said, shownBy: 'backups', wait, look });
}

/** Why none would be taken, which the control plane says already; undefined when one may be. */
function refusalOf({ object: { status } }: ControlPlane, retry: boolean): string | undefined {
  const { kind } = stateOf(status?.conditions);
  if (kind === 'hibernated') return 'it hibernates, and nothing has changed since its last backup';
  const condition = status?.conditions?.find(({ type }) => type === 'EtcdBackupReady');
  if (retry || condition?.reason !== 'BackupSecretInvalid') return undefined;
  return `${condition.message}; to try it nevertheless, add --retry`;
}

/** The state when the backup was requested. */
interface RequestedBackup {
  readonly request: string;
  /**
   * `status.etcd.backup.lastAttemptTime` before the request. Times are not compared, because the clocks of operator and
   * client may differ.
   */
  readonly lastAttemptTime: string | undefined;
}

/** The progress of a requested backup. A failed attempt ends the wait, although the operator retries. */
export function backupProgress({ object }: ControlPlane, requested: RequestedBackup): Progress {
  const { status } = object;
  const known = status?.etcd?.backup;
  if (known?.lastRequest === requested.request) return { kind: 'done', message: known.lastBackup ?? 'stored' };

  const condition = status?.conditions?.find(({ type }) => type === 'EtcdBackupReady');
  const message = condition?.message ?? '';
  const wasTried = known?.lastAttemptTime !== requested.lastAttemptTime;
  if (condition?.status === 'False' && wasTried && failures.includes(condition.reason)) {
    return { kind: 'failed', message: `no backup was taken: ${message}` };
  }
  return { kind: 'running', message: message || 'waiting for the operator' };
}

/** Reasons of EtcdBackupReady that end an attempt. */
const failures = ['BackupSecretInvalid', 'StoreUnavailable', 'BackupFailed', 'ReconcileFailed', 'InvalidConfiguration'];
