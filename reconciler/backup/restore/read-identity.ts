import type { Restore } from '../../../constructs/api/restore-spec.ts';
import { type RecoveryBundle, recoveryBundleSecretNames } from '../recovery-bundle.ts';
import { choiceOf } from '../choose-backup.ts';
import { type RecoveryBundleRequest, findRecoveryBundle } from '../find-recovery-bundle.ts';

/** A Secret that cannot be recreated, with its new name. */
export type KeptSecret = RecoveryBundle['secrets'][number];

/** CAs and keys of a cluster, from one of its backups. */
export interface Identity {
  readonly backup: string;
  readonly secrets: readonly KeptSecret[];
}

export interface IdentitySource extends Omit<RecoveryBundleRequest, 'choice'> {
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
