import { findUsersObject } from '../management/users-objects.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { adopt } from '../encryption-at-rest/adopt.ts';
import { identity, type Key } from '../encryption-at-rest/configuration.ts';
import { planInitialConfiguration, firstKeys } from '../encryption-at-rest/first-keys.ts';
import { encryptionSecret, readEncryptionKeys } from '../encryption-at-rest/secret.ts';
import type { SecretObject, SecretProps } from '../pki/secret.ts';
import type { RestoreContext } from './context.ts';

/**
 * Puts the keys of a backup among our own, so that API servers can read its Secrets when they start on it. To be done
 * before anything else of the restore is: only that it has begun makes the keys readable, and a process that is killed in
 * between finds them there. Gives a sentence on what is in the way; then nothing was written.
 */
export async function adoptKeys(
  scope: RestoreContext,
  props: SecretProps,
  keys: readonly Key[],
): Promise<string | undefined> {
  if (keys.length === 0) return undefined;
  const { writer } = scope;
  const found = await findUsersObject<SecretObject>(scope, Secret, props.name);
  const live = found ?? (await create(scope, props, keys));
  if (live === 'lost') return `Secret ${props.name} is gone: restore it from a backup, the restore waits for it`;
  // The user sees to what his API servers can read.
  if (live === 'users') return undefined;
  const own = readEncryptionKeys(live);
  if (!own)
    return `Secret ${props.name} has no configuration of ours: restore it from a backup, the restore waits for it`;
  const adoption = adopt(own, keys);
  if (adoption.kind === 'clash') {
    return `Secrets of the backup are stored under ${adoption.name}, and Secret ${props.name} has another key of that name: restore the backup into a new Cluster`;
  }
  if (adoption.kind === 'adopted') await writer.apply([encryptionSecret(props, adoption.keys, live)]);
  return undefined;
}

/** A Secret as the control plane would have begun with, but one that stores in clear needs it too. */
async function create(
  scope: RestoreContext,
  props: SecretProps,
  keys: readonly Key[],
): Promise<SecretObject | 'lost' | 'users'> {
  const initialConfiguration = planInitialConfiguration(scope);
  if (initialConfiguration.kind === 'lost' || initialConfiguration.kind === 'users') return initialConfiguration.kind;
  const providers = initialConfiguration.kind === 'configure' ? initialConfiguration.providers : [identity];
  return scope.writer.createOnce<SecretObject>(encryptionSecret(props, firstKeys(scope, providers, keys)));
}
