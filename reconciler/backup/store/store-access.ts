import type { SecretObject } from '../../../imports/kubernetes.ts';
import {
  backupAccess,
  clusterSecretType,
  encryptionKeyAnnotation,
  restoreAccessLabel,
} from '../../../constructs/api/group.ts';
import { Backup } from '../../../constructs/api/backup-spec.ts';
import { messageOf } from '../../kube/error-message.ts';
import { isForbidden } from '../../kube/errors.ts';
import { InvalidConfiguration } from '../../engine/outcome.ts';
import type { Destinations } from '../../clusters/network/destinations.ts';
import { type EncryptionKey, readEncryptionKey } from '../encryption-keys.ts';
import type { BackupOwner } from '../../../constructs/cluster/backup-names.ts';
import type { ObjectStore, ObjectStoreOptions } from './object-store.ts';
import { StoreError } from './store-error.ts';
import { readStoreSettings, type StoreCredentials } from './store-settings.ts';
import type { KubeObject } from '../../kube/object.ts';
import { listed } from '../../clusters/management/listed.ts';

/** Types of Secrets that hold what Kubernetes or Cluster API issue. */
const foreignTypes: readonly string[] = [
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
  clusterSecretType,
];

/** What opening a store reads from the management cluster, for one HostedControlPlane. */
export interface StoreReader {
  /** A Secret of any namespace, read from the API server; undefined if it does not exist. */
  secret(name: { readonly namespace: string; readonly name: string }): Promise<SecretObject | undefined>;
  /**
   * A new token of a ServiceAccount in the namespace of the HostedControlPlane, for a token service: that of AWS when undefined.
   * @throws a sentence for the user if it does not let the HostedControlPlane send one there
   */
  serviceAccountToken(name: string, audience: string, tokenService: string | undefined): Promise<string>;
  /** Where the store may be. @default anywhere, as on the machine of a user */
  readonly destinations?: Destinations | undefined;
}

/** Who opens a store, and for whose backups. */
interface StoreUser {
  /** Namespace of the HostedControlPlane. */
  readonly namespace: string;
  /** Owner of the backups that are read or written. */
  readonly owner: BackupOwner;
}

/** A bucket and its encryption keys. Close the store after use. */
interface OpenStore {
  readonly store: ObjectStore;
  /** The first one encrypts, each may decrypt; empty if backups are not encrypted. */
  readonly keys: readonly EncryptionKey[];
}

/**
 * Opens the store of a spec with the current content of its Secrets. They are read for each attempt, so that a change
 * is effective immediately.
 * @throws InvalidConfiguration `BackupSecretInvalid` with a message for the user, without values of a Secret
 */
export async function openStore(
  { namespace, owner }: StoreUser,
  { secret, webIdentity, encryption }: Pick<Backup, 'secret' | 'webIdentity' | 'encryption'>,
  storeReader: StoreReader,
  options?: ObjectStoreOptions,
): Promise<OpenStore> {
  const place = { namespace: secret.namespace ?? namespace, name: secret.name };
  const name = `Secret ${place.namespace}/${place.name}`;
  const found = await storeReader.secret(place).catch((error: unknown) => {
    throw isForbidden(error) ? invalid(unreadable(name, place)) : error;
  });
  const isForeign = place.namespace !== namespace;
  if (!found || (isForeign && !mayUse(namespace, found))) throw invalid(missing(name, place.namespace, namespace));
  if (isForeign) refuseForeignUse(name, { namespace, owner }, secret, found);
  refuseMixedKeys(secret);
  if (foreignTypes.includes(found.type ?? ''))
    throw invalid(`${name} is of type ${found.type}, which is not the type of a bucket: name another one`);
  const settings = named(name, () =>
    readStoreSettings(found.data ?? {}, secret, webIdentity && credentialsOf(webIdentity, storeReader)),
  );
  const keys = encryption ? await encryptionKeys({ namespace, name: encryption.secretName }, storeReader) : [];
  // The client of S3 takes 14 MiB, which an operator without backups saves.
  const { ObjectStore: Store } = await import('./object-store.ts');
  return { store: new Store(settings, { destinations: storeReader.destinations, ...options }), keys };
}

/**
 * A Secret of another namespace opens the whole bucket, with the backups of other tenants and their keys. What it names goes where it
 * says: another name of a key would send its secret as something else, in clear or in a message.
 */
function refuseForeignUse(
  name: string,
  { namespace, owner }: StoreUser,
  secret: Backup['secret'],
  found: SecretObject,
): void {
  const renamed = settingKeys.filter((key) => secret[key] !== defaultKeys[key]);
  if (renamed.length > 0)
    throw invalid(
      `${name} belongs to another namespace, so that its keys have the default names: remove ${renamed.map((key) => `etcd.backup.secret.${key}`).join(', ')}`,
    );
  if (mayRestore(namespace, owner.namespace, found)) return;
  throw invalid(
    `${name} lets namespace ${namespace} restore its own backups, and not the backups of namespace ${owner.namespace}: correct etcd.restore.from, or ask its owner for a Secret with the labels ${backupAccess}: ${namespace} and ${restoreAccessLabel}: ${owner.namespace}`,
  );
}

/**
 * Whether the owner of a Secret lets another namespace use it: the annotation names it among others, or the label alone.
 * A label of Kubernetes cannot hold a list.
 */
export function mayUse(namespace: string, { metadata }: KubeObject): boolean {
  const namespaces = listed(metadata, backupAccess);
  return namespaces.includes(namespace) || namespaces.includes('*') || isNamedAlone(namespace, metadata);
}

/**
 * Whether the owner of a Secret lets another namespace restore the backups of a third one. Only for the namespace in the
 * label: beside a list, the permission would be for every namespace of the list.
 */
export function mayRestore(namespace: string, of: string, { metadata }: KubeObject): boolean {
  return of === namespace || (isNamedAlone(namespace, metadata) && metadata.labels?.[restoreAccessLabel] === of);
}

function isNamedAlone(namespace: string, { labels }: KubeObject['metadata']): boolean {
  return labels?.[backupAccess] === namespace;
}

/** In a Secret of the own namespace, too, each setting comes from a key of its own, and none from that of another one. */
function refuseMixedKeys(secret: Backup['secret']): void {
  const mixed = settingKeys.filter((key) =>
    settingKeys.some((other) => other !== key && [secret[other], defaultKeys[other]].includes(secret[key])),
  );
  if (mixed.length === 0) return;
  throw invalid(
    `${mixed.map((key) => `etcd.backup.secret.${key}`).join(', ')} ${mixed.length > 1 ? 'name' : 'names'} the key of another setting, whose value would be sent or shown as what it is not: correct it`,
  );
}

const defaultKeys = Backup.shape.secret.parse({ name: 'any' });
const settingKeys = [
  'accessKeyIDKey',
  'secretAccessKeyKey',
  'hostKey',
  'regionKey',
  'bucketKey',
  'certificateAuthorityKey',
] as const satisfies readonly (keyof Backup['secret'])[];

/** An operator for one namespace has no rights in others, whether the Secret exists or not. */
function unreadable(name: string, place: { readonly namespace: string; readonly name: string }): string {
  return `the operator may not read ${name}: grant its ServiceAccount to get ${place.name} by a Role in namespace ${place.namespace}, or name a Secret of the namespace of the HostedControlPlane`;
}

/** The same message whether the Secret is missing or not shared, to hide which Secrets other namespaces have. */
function missing(name: string, namespace: string, reader: string): string {
  return namespace === reader
    ? `${name} with the address of the bucket does not exist: create it`
    : `${name} does not exist or does not let namespace ${reader} use it: ask its owner to create it with the annotation ${backupAccess}: ${reader}, or to add ${reader} to that list`;
}

function credentialsOf(webIdentity: NonNullable<Backup['webIdentity']>, storeReader: StoreReader): StoreCredentials {
  const { roleARN, serviceAccountName, audience, tokenServiceURL } = webIdentity;
  if (tokenServiceURL !== undefined && !tokenServiceURL.startsWith('https://'))
    throw invalid(
      'etcd.backup.webIdentity.tokenServiceURL does not begin with https://, so that programs on the way could read the token: correct it',
    );
  const tokenService = tokenServiceURL === undefined ? undefined : new URL(tokenServiceURL).host;
  return {
    kind: 'webIdentity',
    roleArn: roleARN,
    tokenService: tokenServiceURL,
    token: () =>
      storeReader.serviceAccountToken(serviceAccountName, audience, tokenService).catch((error: unknown) => {
        throw new StoreError('CredentialsRefused', `cannot sign in to the store: ${messageOf(error)}`);
      }),
  };
}

async function encryptionKeys(
  place: { readonly namespace: string; readonly name: string },
  storeReader: StoreReader,
): Promise<readonly EncryptionKey[]> {
  const secret = await storeReader.secret(place);
  const name = `Secret ${place.namespace}/${place.name}`;
  if (!secret) throw invalid(`${name} with the keys that encrypt backups does not exist: create it`);
  return named(name, () => {
    const keys = Object.entries(secret.data ?? {}).map(([id, content]) =>
      readEncryptionKey(id, Buffer.from(content, 'base64')),
    );
    const first = encryptingKey(keys, secret.metadata.annotations?.[encryptionKeyAnnotation]);
    return [first, ...keys.filter((key) => key !== first)];
  });
}

function encryptingKey(keys: readonly EncryptionKey[], annotated: string | undefined): EncryptionKey {
  const [only, ...others] = keys;
  if (!only) throw new Error('it contains no key: add one, created with "openssl rand -base64 32"');
  if (annotated === undefined && others.length === 0) return only;
  if (annotated === undefined) {
    throw new Error(
      `it contains several keys: set its annotation ${encryptionKeyAnnotation} to the name of the key that encrypts`,
    );
  }
  const found = keys.find(({ id }) => id === annotated);
  if (found) return found;
  throw new Error(
    `its annotation ${encryptionKeyAnnotation} names "${annotated}", but it contains no such key: correct the annotation, or add the key`,
  );
}

/** Runs `read`, and adds the Secret's name to its error. */
function named<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw invalid(`${name}: ${messageOf(error)}`);
  }
}

function invalid(message: string): InvalidConfiguration {
  return new InvalidConfiguration('BackupSecretInvalid', message);
}
