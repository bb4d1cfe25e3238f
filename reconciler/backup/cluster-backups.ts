import { createHash } from 'node:crypto';
import type { DatabaseSource } from '../etcd/snapshot.ts';
import type { Clock } from '../kube/clock.ts';
import type { BareObject } from './bare-snapshot.ts';
import { decrypted, encrypted } from './encryption.ts';
import type { EncryptionKey } from './encryption-keys.ts';
import { parseManifest, serializeManifest, type Manifest } from './manifest.ts';
import {
  backupId,
  objectKey,
  objectNames,
  ownerFolder,
  parseBareSnapshotKey,
  parseObjectKey,
  type BackupName,
  type BackupOwner,
} from '../../constructs/cluster/backup-names.ts';
import type { ObjectStore } from './store/object-store.ts';
import { markedOwner, markerObject, type OwnerMarker, parseOwnerMarker } from './owner-marker.ts';
import type { MarkedBackup } from './ownership.ts';
import { storeStream } from './upload/store-stream.ts';
import { uploadThreads } from './upload/upload-threads.ts';
import { takeMoveLock } from './move-lock.ts';
import { newestFirst } from './order.ts';
import { Verification } from './verification-result.ts';

/** A complete backup. */
export interface StoredBackup extends MarkedBackup {
  /** Whether the backup has passed verification. */
  readonly isVerified: boolean;
}

/** Content of the folder of a cluster. */
interface BackupList {
  /** Newest first, as {@link newestFirst} orders them without knowing which owner follows which. */
  readonly backups: readonly StoredBackup[];
  /** Backups without a manifest, from uploads that did not end or are in progress. */
  readonly unfinished: readonly MarkedBackup[];
  /** Names of snapshots without a manifest, of other providers, the last name first. */
  readonly bareSnapshots: readonly string[];
}

/** Facts for the manifest that the stream of the snapshot does not show. */
export type SnapshotFacts = Pick<Manifest, 'clusterId' | 'etcdVersion' | 'kubernetesVersion' | 'keys' | 'takenFor'>;

/** Content of a new backup. */
export interface NewBackup {
  readonly name: BackupName;
  readonly facts: SnapshotFacts;
  /** Whose backup it is. Releases that knew no owners wrote none. */
  readonly marker?: OwnerMarker | undefined;
  /** As etcd sends it. That of a member is moved by a thread of its own. */
  readonly snapshot: DatabaseSource;
  /** What the member says of its database, in bytes. @default any size */
  readonly databaseBytes?: number | undefined;
  /**
   * Everything else that a rebuild elsewhere needs. It is omitted without an encryption key, because it contains the
   * keys of the cluster.
   */
  readonly bundle?: AsyncIterable<Uint8Array> | undefined;
}

/** The backups of one cluster in a store. */
export class ClusterBackups {
  readonly #store: ObjectStore;
  /** Whose folder it is. */
  readonly owner: BackupOwner;
  readonly #folder: string;
  readonly #keys: readonly EncryptionKey[];

  /** The first key encrypts, and each key may decrypt. Without keys, backups are stored unencrypted. */
  constructor(store: ObjectStore, owner: BackupOwner, keys: readonly EncryptionKey[] = []) {
    this.#store = store;
    this.owner = owner;
    this.#folder = ownerFolder(store.settings.prefix, owner);
    this.#keys = keys;
  }

  /** Asks the store for the folder. @throws StoreError if it does not answer */
  reach(signal: AbortSignal): Promise<void> {
    return this.#store.reach(this.#folder, signal);
  }

  /** Uploads a backup. It is listed only once it is complete. */
  async write(
    { name, facts, marker, snapshot, databaseBytes, bundle }: NewBackup,
    signal?: AbortSignal,
    moved?: (bytes: number) => void,
  ): Promise<Manifest> {
    const [key, ...older] = this.#keys;
    // First, so that unfinished uploads have an owner too.
    if (marker) await this.mark(name, marker, signal);
    const object = key ? objectNames.encryptedSnapshot : objectNames.snapshot;
    const target = { name: this.#key(name, object), key, databaseBytes };
    const calls = { signal, moved };
    const stored = await ('endpoint' in snapshot
      ? uploadThreads.store(this.#store, snapshot, target, calls)
      : storeStream(this.#store, target, snapshot, calls));
    if (key && bundle) {
      await this.#store.put(
        this.#key(name, objectNames.encryptedRecoveryBundle),
        encrypted(bundle, [key, ...older]),
        signal,
      );
    }
    const manifest: Manifest = {
      formatVersion: 1,
      ...this.owner,
      ...facts,
      time: new Date(name.time).toISOString(),
      revision: name.revision,
      ...stored,
      ...(key ? { encryption: { keyId: key.id } } : {}),
      objects: { snapshot: object, ...(key && bundle ? { bundle: objectNames.encryptedRecoveryBundle } : {}) },
    };
    signal?.throwIfAborted();
    await this.#store.putText(this.#key(name, objectNames.manifest), serializeManifest(manifest), signal);
    return manifest;
  }

  /** Lists the content of the folder, with one request per thousand objects. */
  async list(signal?: AbortSignal): Promise<BackupList> {
    const objects = new Map<string, { backup: BackupName; names: Set<string> }>();
    const bareSnapshots: string[] = [];
    for (const key of await this.#store.list(this.#folder, signal)) {
      const bare = parseBareSnapshotKey(this.#folder, key);
      if (bare !== undefined) bareSnapshots.push(bare);
      const parsed = parseObjectKey(this.#folder, key);
      if (!parsed) continue;
      const id = backupId(parsed.backup);
      const known = objects.get(id) ?? { backup: parsed.backup, names: new Set() };
      objects.set(id, { ...known, names: known.names.add(parsed.object) });
    }
    const found = [...objects.values()].map(({ backup, names }) => ({ ...marked(backup, names), names }));
    const isComplete = ({ names }: { names: Set<string> }): boolean => names.has(objectNames.manifest);
    return {
      backups: newestFirst(found.filter(isComplete)).map(({ names, ...backup }) => ({
        ...backup,
        isVerified: names.has(objectNames.verification),
      })),
      unfinished: newestFirst(found.filter((one) => !isComplete(one))).map(({ time, revision, owner }) => ({
        time,
        revision,
        owner,
      })),
      bareSnapshots: bareSnapshots.sort().reverse(),
    };
  }

  async manifest(backup: BackupName, signal?: AbortSignal): Promise<Manifest> {
    const text = await this.#store.getText(this.#key(backup, objectNames.manifest), signal);
    const manifest = parseManifest(text, backup);
    const { namespace, cluster } = this.owner;
    if (manifest.namespace === namespace && manifest.cluster === cluster) return manifest;
    throw new Error(
      `backup ${backupId(backup)} in the folder of ${namespace}/${cluster} belongs to ${manifest.namespace}/${manifest.cluster}, so it was copied there: restore it from its own folder`,
    );
  }

  /**
   * The snapshot as etcd sent it. Only the end of the stream confirms that it is complete and has the hash of the
   * manifest: never use a part of it.
   */
  async *readSnapshot(backup: BackupName, manifest: Manifest, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const stored = this.#store.get(this.#key(backup, manifest.objects.snapshot), signal);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const chunk of manifest.encryption ? decrypted(stored, this.#keys) : stored) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      // A store may send without end.
      if (sizeBytes > manifest.sizeBytes) break;
      yield chunk;
    }
    if (sizeBytes === manifest.sizeBytes && hash.digest('hex') === manifest.sha256) return;
    throw new Error(
      `backup ${backupId(backup)} is damaged, because its size or hash differs from its manifest (${sizeBytes} of ${manifest.sizeBytes} bytes): use another backup`,
    );
  }

  /** Stores a snapshot without a manifest, as etcd sends it. */
  async writeBareSnapshot(name: string, snapshot: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void> {
    await this.#store.put(`${this.#folder}${name}`, snapshot, signal);
  }

  /** A snapshot without a manifest. @throws StoreError if it does not exist */
  async bareSnapshot(name: string, signal?: AbortSignal): Promise<BareObject> {
    const key = `${this.#folder}${name}`;
    return {
      sizeBytes: await this.#store.size(key, signal),
      readAt: (offset, length) => this.#store.getPart(key, offset, length, signal),
      stream: () => this.#store.get(key, signal),
    };
  }

  /** The recovery bundle of the backup, under the same conditions as {@link readSnapshot}. */
  readRecoveryBundle(backup: BackupName, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    return decrypted(this.#store.get(this.#key(backup, objectNames.encryptedRecoveryBundle), signal), this.#keys);
  }

  /** Records whose backup it is. */
  async mark(backup: BackupName, marker: OwnerMarker, signal?: AbortSignal): Promise<void> {
    const [uid = ''] = marker.uids;
    await this.#store.putText(
      this.#key(backup, markerObject(uid)),
      `${JSON.stringify(marker, undefined, 2)}\n`,
      signal,
    );
  }

  /** Its marker. @throws if it has none, or it cannot be read */
  async marker({ owner = '', ...backup }: MarkedBackup, signal?: AbortSignal): Promise<OwnerMarker> {
    return parseOwnerMarker(await this.#store.getText(this.#key(backup, markerObject(owner)), signal));
  }

  /** Records that a backup has passed verification. */
  async markVerified(backup: BackupName, verification: Verification, signal?: AbortSignal): Promise<void> {
    const text = `${JSON.stringify(Verification.parse(verification), undefined, 2)}\n`;
    await this.#store.putText(this.#key(backup, objectNames.verification), text, signal);
  }

  /** The result of its verification. @throws if it was not verified, or the result cannot be read */
  async verification(backup: BackupName, signal?: AbortSignal): Promise<Verification> {
    const text = await this.#store.getText(this.#key(backup, objectNames.verification), signal);
    try {
      return Verification.parse(JSON.parse(text));
    } catch (cause) {
      throw new Error(`cannot read the verification result of backup ${backupId(backup)}`, { cause });
    }
  }

  /** Takes the lock on the data of a backup for one HostedControlPlane. @returns the uid of the one that has it */
  takeMoveLock(backup: BackupName, uid: string, signal?: AbortSignal, clock?: Clock): Promise<string> {
    const key = this.#key(backup, objectNames.claim);
    return takeMoveLock(this.#store, { key, backup: backupId(backup), uid }, signal, clock);
  }

  /** Deletes a backup. If the deletion fails halfway, the backup is no longer listed. */
  async delete(backup: BackupName, signal?: AbortSignal): Promise<void> {
    const keys = await this.#store.list(this.#key(backup, ''), signal);
    await this.#store.delete(this.#key(backup, objectNames.manifest), signal);
    for (const key of keys) await this.#store.delete(key, signal);
  }

  /** Deletes the remains of uploads that began before an instant. Choose a time by which every upload has ended. */
  async deleteUnfinished(unfinished: readonly BackupName[], before: number, signal?: AbortSignal): Promise<void> {
    for (const backup of unfinished.filter(({ time }) => time < before)) await this.delete(backup, signal);
    await this.#store.abortUploads(this.#folder, before, signal);
  }

  #key(backup: BackupName, object: string): string {
    return objectKey(this.#folder, backup, object);
  }
}

/** The backup with the owner that the names of its objects show. */
function marked(backup: BackupName, names: ReadonlySet<string>): MarkedBackup {
  const [owner] = [...names].flatMap((name) => markedOwner(name) ?? []);
  return { ...backup, owner };
}
