import type { Restore } from '../../constructs/api/restore-spec.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import type { BackupOwner } from '../../constructs/cluster/backup-names.ts';
import { type Session, UsageError } from './command.ts';
import type { ControlPlane } from './control-plane.ts';
import { fieldManager } from './field-manager.ts';

/** What replaces the data of a control plane. */
export interface RequestedBackup {
  /** Its name: exactly this backup is restored, even if a newer one is stored meanwhile. */
  readonly backup: string;
  /** Owner of the backup; the cluster itself when unset. */
  readonly from?: BackupOwner | undefined;
  /** The version of Kubernetes from then on; unchanged when unset. */
  readonly version?: string | undefined;
}

/** Requests a restore in one write. @returns the generation of the spec that requests it */
export async function requestRestore(
  { client, namespace, now }: Session,
  { object }: ControlPlane,
  { backup, from, version }: RequestedBackup,
): Promise<number> {
  const restore = {
    backup,
    latest: null,
    before: null,
    from: from === undefined ? null : { ...from, identity: null },
    request: new Date(now()).toISOString(),
  } satisfies Record<keyof Restore, unknown>;
  const patched = await client.mergePatch(
    HostedControlPlane,
    { namespace, name: object.metadata.name },
    { spec: { ...(version === undefined ? {} : { version }), etcd: { restore } } },
    { fieldManager },
  );
  return patched.metadata.generation ?? 0;
}

/**
 * Resolves when the user has accepted the loss.
 * @param isGiven by an option
 * @throws when the user refuses, and UsageError when there is no terminal to ask at
 */
export async function confirmLoss({ terminal }: Session, question: string, isGiven: boolean): Promise<void> {
  const agreed = isGiven || (await terminal.confirm(question));
  if (agreed === undefined)
    throw new UsageError('standard input is not a terminal, so the loss cannot be confirmed: add --yes');
  if (!agreed) throw new Error('not confirmed, nothing was restored');
}
