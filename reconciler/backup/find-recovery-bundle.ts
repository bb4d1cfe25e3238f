import { type RecoveryBundle, readRecoveryBundle, recoveryBundleSecretNames } from './recovery-bundle.ts';
import { type Choice, chooseOwnFirst, describeForeign, choiceOf } from './choose-backup.ts';
import { backupId } from '../../constructs/cluster/backup-names.ts';
import { type StoredBackups, withBackups } from './with-backups.ts';
import type { Restore } from '../../constructs/api/restore-spec.ts';

/** The requested recovery bundle, and access to its store. */
interface RecoveryBundleRequest extends StoredBackups {
  readonly choice: Choice;
}

/** The backup does not exist, or has no recovery bundle. */
export class RecoveryBundleNotFound extends Error {
  override readonly name = 'BundleNotFound';
}

/**
 * Reads the recovery bundle of a backup.
 * @throws RecoveryBundleNotFound; InvalidConfiguration for Secrets; StoreError; any other error for an unusable bundle
 */
export async function findRecoveryBundle(
  { choice, ...stored }: RecoveryBundleRequest,
  signal?: AbortSignal,
): Promise<{ readonly backup: string; readonly bundle: RecoveryBundle }> {
  if (choice.kind === 'bareSnapshot')
    throw new RecoveryBundleNotFound(
      `snapshot ${choice.name} has no manifest and contains no CAs and keys: choose a backup, or set etcd.restore.from.identity: false`,
    );
  const { owner } = stored;
  return withBackups(stored, async (backups) => {
    const foreign = (await backups.list(signal)).backups;
    const chosen = chooseOwnFirst(choice, { own: [], foreign }, true);
    if (chosen.kind === 'foreign' || chosen.kind === 'ambiguous')
      throw new RecoveryBundleNotFound(describeForeign(chosen, owner));
    if (chosen.kind === 'none')
      throw new RecoveryBundleNotFound(
        `the bucket does not contain this backup of ${owner.namespace}/${owner.cluster}: choose another backup`,
      );
    const backup = backupId(chosen.backup);
    const { objects } = await backups.manifest(chosen.backup, signal);
    if (objects.bundle === undefined) {
      throw new RecoveryBundleNotFound(
        `backup ${backup} contains no CAs and keys, because it was stored without encryption: workers of a cluster that is restored from it must join again`,
      );
    }
    return { backup, bundle: await readRecoveryBundle(backups.readRecoveryBundle(chosen.backup, signal)) };
  });
}

/** A Secret that cannot be recreated, with its new name. */
export type KeptSecret = RecoveryBundle['secrets'][number];

/** CAs and keys of a cluster, from one of its backups. */
export interface Identity {
  readonly backup: string;
  readonly secrets: readonly KeptSecret[];
}

interface IdentitySource extends Omit<RecoveryBundleRequest, 'choice'> {
  readonly restore: Restore;
  /** Name of the Cluster that adopts them. */
  readonly cluster: string;
}

/**
 * Reads the CAs and keys of the backup to restore.
 * @throws the errors of {@link findRecoveryBundle}
 */
export async function readIdentity(source: IdentitySource, signal: AbortSignal): Promise<Identity> {
  const { backup, bundle } = await findRecoveryBundle({ ...source, choice: choiceOf(source.restore) }, signal);
  return { backup, secrets: renamed(bundle, source.owner.cluster, source.cluster) };
}

/** The Secrets of an identity, with the names for another cluster. */
function renamed({ secrets }: RecoveryBundle, from: string, to: string): KeptSecret[] {
  const names = recoveryBundleSecretNames(to);
  return recoveryBundleSecretNames(from).flatMap((name, index) => {
    const found = secrets.find((secret) => secret.name === name);
    return found ? [{ ...found, name: names[index] ?? name }] : [];
  });
}
