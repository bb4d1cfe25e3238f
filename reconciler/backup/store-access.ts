import { backupAccessLabel, encryptionKeyAnnotation } from '../../constructs/api/group.ts';
import type { Backup } from '../../constructs/api/backup-spec.ts';
import { messageOf } from '../kube/error-message.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import type { SecretObject } from '../pki/secret.ts';
import { type EncryptionKey, readEncryptionKey } from './encryption-keys.ts';
import { ObjectStore, type ObjectStoreOptions } from './object-store.ts';
import { StoreError } from './store-error.ts';
import { readStoreSettings, type StoreCredentials } from './store-settings.ts';

/** What opening a store asks of the management cluster, for one HostedControlPlane. */
export interface StoreReader {
  /** A Secret of any namespace, as it is now; undefined when there is none. */
  secret(name: { readonly namespace: string; readonly name: string }): Promise<SecretObject | undefined>;
  /** A fresh token of a ServiceAccount in the namespace of the HostedControlPlane. */
  serviceAccountToken(name: string, audience: string): Promise<string>;
}

/** A bucket and the keys for what is in it. Close the store when done. */
export interface OpenStore {
  readonly store: ObjectStore;
  /** The first one encrypts, each may decrypt; empty when backups are stored in clear. */
  readonly keys: readonly EncryptionKey[];
}

/**
 * The store that a spec names, by what its Secrets say now: they are read for each attempt, so that a change of them counts
 * at once.
 * @param namespace the one of the HostedControlPlane
 * @throws InvalidConfiguration `BackupSecretInvalid` in words for the user, which hold nothing of a Secret's values
 */
export async function openStore(
  namespace: string,
  { secret, webIdentity, encryption }: Pick<Backup, 'secret' | 'webIdentity' | 'encryption'>,
  requestCaches: StoreReader,
  options?: ObjectStoreOptions,
): Promise<OpenStore> {
  const place = { namespace: secret.namespace ?? namespace, name: secret.name };
  const found = await requestCaches.secret(place);
  const name = `Secret ${place.namespace}/${place.name}`;
  if (!found || !mayRead(namespace, place.namespace, found)) throw invalid(missing(name, place.namespace, namespace));
  const settings = said(name, () =>
    readStoreSettings(found.data ?? {}, secret, webIdentity && credentialsOf(webIdentity, requestCaches)),
  );
  const keys = encryption ? await encryptionKeys({ namespace, name: encryption.secretName }, requestCaches) : [];
  return { store: new ObjectStore(settings, options), keys };
}

/** A Secret of another namespace has to name the one that may read it: else a user could use anybody's bucket. */
function mayRead(reader: string, namespace: string, { metadata }: SecretObject): boolean {
  return namespace === reader || metadata.labels?.[backupAccessLabel] === reader;
}

/** The same sentence whether it is not there or not granted: which Secrets others have is not told. */
function missing(name: string, namespace: string, reader: string): string {
  return namespace === reader
    ? `${name} with the address of the bucket does not exist: create it`
    : `${name} does not exist or does not let namespace ${reader} read it: create it with the label ${backupAccessLabel}: ${reader}`;
}

function credentialsOf(webIdentity: NonNullable<Backup['webIdentity']>, requestCaches: StoreReader): StoreCredentials {
  const { roleARN, serviceAccountName, audience, tokenServiceURL } = webIdentity;
  return {
    kind: 'web-identity',
    roleArn: roleARN,
    tokenService: tokenServiceURL,
    token: () =>
      requestCaches.serviceAccountToken(serviceAccountName, audience).catch((error: unknown) => {
        const advice = 'create the ServiceAccount, or correct etcd.backup.webIdentity';
        throw new StoreError('CredentialsRefused', `sign in to the store: ${messageOf(error)}: ${advice}`);
      }),
  };
}

async function encryptionKeys(
  place: { readonly namespace: string; readonly name: string },
  requestCaches: StoreReader,
): Promise<readonly EncryptionKey[]> {
  const secret = await requestCaches.secret(place);
  const name = `Secret ${place.namespace}/${place.name}`;
  if (!secret) throw invalid(`${name} with the keys that encrypt backups does not exist: create it`);
  return said(name, () => {
    const keys = Object.entries(secret.data ?? {}).map(([id, content]) =>
      readEncryptionKey(id, Buffer.from(content, 'base64')),
    );
    const first = encryptingKey(keys, secret.metadata.annotations?.[encryptionKeyAnnotation]);
    return [first, ...keys.filter((key) => key !== first)];
  });
}

function encryptingKey(keys: readonly EncryptionKey[], named: string | undefined): EncryptionKey {
  const [only, ...others] = keys;
  if (!only) throw new Error('it holds no key: put one there, made with "openssl rand -base64 32"');
  if (named === undefined && others.length === 0) return only;
  if (named === undefined) {
    throw new Error(`it holds several keys: name the one that encrypts in its annotation ${encryptionKeyAnnotation}`);
  }
  const found = keys.find(({ id }) => id === named);
  if (found) return found;
  throw new Error(`its annotation ${encryptionKeyAnnotation} names "${named}", and it holds no such key: correct one`);
}

/** What `read` says, with the Secret's name before the fault. */
function said<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw invalid(`${name}: ${messageOf(error)}`);
  }
}

function invalid(message: string): InvalidConfiguration {
  return new InvalidConfiguration('BackupSecretInvalid', message);
}
