import type { Restore } from '../../constructs/api/restore-spec.ts';
import { type RecoveryBundle, survivingSecrets } from '../backup/recovery-bundle.ts';
import type { Choice } from '../backup/choose-backup.ts';
import { type RecoveryBundleRequest, findRecoveryBundle } from '../backup/find-recovery-bundle.ts';

/** A Secret that cannot be made again, under the name it is to have. */
export type KeptSecret = RecoveryBundle['secrets'][number];

/** Authorities and keys of a cluster, from one of its backups. */
export interface Identity {
  readonly backup: string;
  readonly secrets: readonly KeptSecret[];
}

export interface IdentitySource extends Omit<RecoveryBundleRequest, 'choice'> {
  readonly restore: Restore;
  /** Name of the Cluster that shall have them. */
  readonly cluster: string;
}

/** Reads the authorities and keys beside the backup that is to be restored. @throws what {@link findRecoveryBundle} throws */
export async function readIdentity(source: IdentitySource, signal: AbortSignal): Promise<Identity> {
  const { backup, bundle } = await findRecoveryBundle({ ...source, choice: choiceOf(source.restore) }, signal);
  return { backup, secrets: renamed(bundle, source.owner.cluster, source.cluster) };
}

/** Those that belong to an identity, under the names of another cluster. */
function renamed({ secrets }: RecoveryBundle, from: string, to: string): KeptSecret[] {
  const names = survivingSecrets(to);
  return survivingSecrets(from).flatMap((name, index) => {
    const found = secrets.find((secret) => secret.name === name);
    return found ? [{ ...found, name: names[index] ?? name }] : [];
  });
}

function choiceOf({ backup, before }: Restore): Choice {
  if (backup !== undefined) return { kind: 'backup', id: backup };
  return before === undefined ? { kind: 'latest' } : { kind: 'before', before };
}
