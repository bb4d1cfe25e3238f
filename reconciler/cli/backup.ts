import { backupAnnotation } from '../../constructs/api/group.ts';
import { changingControlPlane, findingControlPlane, followingControlPlane } from './access.ts';
import { type Command, type Session, clusterArgument, hasSwitch } from './command.ts';
import { changeControlPlane, type ControlPlane, findControlPlane, refuseDeleting } from './control-plane.ts';
import { type Progress, follow } from './follow.ts';
import { nextCommand } from './format.ts';

/** Requests a backup with the annotation that users can also set. */
export const backup: Command = {
  name: 'backup',
  examples: [
    ['backup prod -n team-a', 'asks for a backup'],
    ['backup prod --wait --timeout 10m', 'waits until it is stored, and prints its name'],
  ],
  usage: 'CLUSTER [--wait]',
  summary: 'Takes a backup.',
  options: { wait: { type: 'boolean', meaning: 'wait until the backup is stored, and print its name' } },
  access: [findingControlPlane, followingControlPlane('--wait'), changingControlPlane('requesting a backup')],
  prepare(given) {
    const cluster = clusterArgument(given);
    return (session) => takeBackup(session, cluster, hasSwitch(given, 'wait'));
  },
};

async function takeBackup(session: Session, cluster: string, wait: boolean): Promise<void> {
  const controlPlane = await findControlPlane(session, cluster);
  refuseDeleting(controlPlane);
  const { metadata, spec, status } = controlPlane.object;
  if (!spec.etcd.backup) {
    throw new Error(
      `HostedControlPlane ${metadata.name} has no backups: set spec.etcd.backup with a bucket and a schedule`,
    );
  }

  const request = new Date(session.now()).toISOString();
  await changeControlPlane(session, { metadata }, { metadata: { annotations: { [backupAnnotation]: request } } });
  if (!wait) {
    session.terminal.print(
      `backup of ${controlPlane.cluster} requested: see ${nextCommand('backups', controlPlane.cluster, session.namespace)}`,
    );
    return;
  }
  const seen = { request, lastAttemptTime: status?.etcd?.backup?.lastAttemptTime };
  session.terminal.print(await follow(session, controlPlane, (now) => backupProgress(now, seen)));
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
