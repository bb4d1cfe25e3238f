import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { backupAnnotation } from '../../constructs/api/group.ts';
import { changingControlPlane, findingControlPlane, followingControlPlane } from './access.ts';
import { backupProgress } from './backup-progress.ts';
import { clusterArgument, type Command, hasSwitch, type Session } from './command.ts';
import { fieldManager } from './field-manager.ts';
import { findControlPlane, refuseDeleting } from './control-plane.ts';
import { follow } from './follow.ts';

/** Arguments of `hcp backup`. */
export interface BackupRequest {
  readonly cluster: string;
  readonly wait: boolean;
}

/** Requests a backup with the annotation that users can also set. */
export const backup: Command = {
  name: 'backup',
  usage: 'CLUSTER [--wait]',
  summary: 'Takes a backup.',
  options: { wait: { type: 'boolean', meaning: 'wait until the backup is stored, and print its name' } },
  access: [findingControlPlane, followingControlPlane('--wait'), changingControlPlane('requesting a backup')],
  prepare(given) {
    const request = { cluster: clusterArgument(given), wait: hasSwitch(given, 'wait') };
    return (session) => takeBackup(session, request);
  },
};

async function takeBackup(session: Session, { cluster, wait }: BackupRequest): Promise<void> {
  const controlPlane = await findControlPlane(session, cluster);
  refuseDeleting(controlPlane);
  const { metadata, spec, status } = controlPlane.object;
  if (!spec.etcd.backup) {
    throw new Error(
      `HostedControlPlane ${metadata.name} has no backups: set spec.etcd.backup with a bucket and a schedule`,
    );
  }

  const request = new Date(session.now()).toISOString();
  await session.client.mergePatch(
    HostedControlPlane,
    { namespace: session.namespace, name: metadata.name },
    { metadata: { annotations: { [backupAnnotation]: request } } },
    { fieldManager },
  );
  if (!wait) {
    session.terminal.print(`backup of ${controlPlane.cluster} requested: see hcp backups ${controlPlane.cluster}`);
    return;
  }
  const seen = { request, lastAttemptTime: status?.etcd?.backup?.lastAttemptTime };
  session.terminal.print(await follow(session, controlPlane, (now) => backupProgress(now, seen)));
}
