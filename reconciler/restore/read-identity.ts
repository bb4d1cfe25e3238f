import type { Backup } from '../../constructs/api/backup-spec.ts';
import type { Restore } from '../../constructs/api/restore-spec.ts';
import { type Bundle, readBundle, survivingSecrets } from '../backup/bundle.ts';
import { ClusterBackups } from '../backup/cluster-backups.ts';
import { backupId, type BackupOwner } from '../backup/names.ts';
import { openStore, type StoreInquiries } from '../backup/store-access.ts';
import { chosenBackup, type Choice } from '../backup/choose-backup.ts';

/** A Secret that cannot be made again, under the name it is to have. */
export type KeptSecret = Bundle['secrets'][number];

/** Authorities and keys of a cluster, from one of its backups. */
export interface Identity {
  readonly backup: string;
  readonly secrets: readonly KeptSecret[];
}

export interface IdentityWish {
  readonly restore: Restore;
  /** Whose authorities and keys. */
  readonly from: BackupOwner;
  /** Who shall have them. */
  readonly to: BackupOwner;
  readonly store: Pick<Backup, 'secret' | 'webIdentity' | 'encryption'>;
  readonly storeInquiries: StoreInquiries;
}

/** There is no such backup, or it lacks what is needed. */
export class IdentityNotFound extends Error {
  override readonly name = 'IdentityNotFound';
}

/**
 * Reads the authorities and keys beside the backup that is to be restored.
 * @throws IdentityNotFound; InvalidConfiguration for Secrets; StoreError; any other error for a bundle that is no good
 */
export async function readIdentity(wish: IdentityWish, signal: AbortSignal): Promise<Identity> {
  const { from, to, restore, storeInquiries } = wish;
  const { store, keys } = await openStore(to.namespace, wish.store, storeInquiries);
  try {
    const backups = new ClusterBackups(store, from, keys);
    const chosen = chosenBackup(choiceOf(restore), (await backups.list()).backups);
    if (!chosen) {
      throw new IdentityNotFound(`there is no such backup of ${from.namespace}/${from.cluster}: see hcp backups`);
    }
    const backup = backupId(chosen);
    const { objects } = await backups.manifest(chosen);
    if (objects.bundle === undefined) {
      throw new IdentityNotFound(
        `backup ${backup} holds no authorities, because it was stored without encryption: set from.identity: false, and let workers join anew`,
      );
    }
    return { backup, secrets: renamed(await readBundle(backups.readBundle(chosen, signal)), from.cluster, to.cluster) };
  } finally {
    store.close();
  }
}

/** Those that belong to an identity, under the names of another cluster. */
function renamed({ secrets }: Bundle, from: string, to: string): KeptSecret[] {
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
