import type { SecretObject } from '../../../imports/kubernetes.ts';
import { findUsersObject } from '../../clusters/management/users-objects.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import { adopt, encryptionSecret, readEncryptionKeys } from '../../encryption-at-rest/secret.ts';
import { identity, type Key } from '../../encryption-at-rest/configuration.ts';
import { initialConfigurationFor, firstKeys } from '../../encryption-at-rest/first-keys.ts';
import { holdsEarlierData } from './earlier-data.ts';
import type { SecretProps } from '../../pki/secret.ts';
import type { RestoreContext } from './restore-context.ts';

/**
 * Adds the keys of a backup to the keys of this cluster, so that API servers can read its Secrets when they start with
 * it. Call it before any other step of the restore: the keys become readable only because the restore has begun, and
 * after a process is killed in between, the next one finds them. Returns a sentence about the problem, if any; then
 * nothing was written.
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
  if (live === 'lost')
    return `Secret ${props.name} does not exist, and the restore waits for it: restore the Secret from a backup`;
  // The user is responsible for what these API servers can read.
  if (live === 'users') return undefined;
  const own = readEncryptionKeys(live);
  if (!own)
    return `Secret ${props.name} has no valid encryption configuration, and the restore waits for it: restore the Secret from a backup`;
  const adoption = adopt(own, keys);
  if (adoption.kind === 'clash') {
    return `Secrets of the backup are encrypted with ${adoption.name}, but Secret ${props.name} has another key of that name: restore the backup into a new Cluster`;
  }
  if (adoption.kind === 'adopted') await writer.apply([encryptionSecret(props, adoption.keys, live)]);
  return undefined;
}

/**
 * A Secret with the initial configuration of the control plane. A control plane that stores Secrets unencrypted needs
 * it too.
 */
async function create(
  scope: RestoreContext,
  props: SecretProps,
  keys: readonly Key[],
): Promise<SecretObject | 'lost' | 'users'> {
  const initialConfiguration = initialConfigurationFor(scope, holdsEarlierData(scope));
  if (initialConfiguration.kind === 'lost' || initialConfiguration.kind === 'users') return initialConfiguration.kind;
  const providers = initialConfiguration.kind === 'configure' ? initialConfiguration.providers : [identity];
  return scope.writer.createOnce<SecretObject>(encryptionSecret(props, firstKeys(scope, providers, keys)));
}
