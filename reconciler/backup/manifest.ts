import { z } from 'zod';
import { KeyCounts } from '../etcd/key-counts.ts';
import { backupId, type BackupName } from '../../constructs/cluster/backup-names.ts';

const count = z.int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits');
const objectName = z.string().regex(/^[a-z]+(\.[a-z]+)+$/, 'must be a file name without a folder');

/**
 * Content of a backup, as the object `manifest.json` beside the snapshot describes it. No field contains data of the
 * cluster.
 */
export const Manifest = z.object({
  /** Increased when a reader of this version would misinterpret a manifest. New optional fields do not increase it. */
  formatVersion: z.literal(1),
  namespace: z.string().min(1),
  /** Name of the Cluster. */
  cluster: z.string().min(1),
  /** etcd's ID of its cluster in hexadecimal digits. A restore creates a new one. */
  clusterId: z.string().regex(/^[0-9a-f]{1,16}$/, 'must be up to 16 hexadecimal digits'),
  /** When the snapshot began. */
  time: z.iso.datetime(),
  /** The snapshot contains every write up to this revision. */
  revision: count,
  /** Hash of the whole snapshot as etcd sent it, before encryption. */
  sha256,
  /** Size of the snapshot as etcd sent it, before encryption. */
  sizeBytes: z.int().positive(),
  etcdVersion: z.string().min(1),
  kubernetesVersion: z.string().min(1),
  keys: KeyCounts,
  /** What requested the backup besides the schedule, so that the request leads to no other backup; see causes.ts. */
  takenFor: z.array(z.string().max(512)).max(16).optional(),
  /** The user's key that decrypts the objects; they are not encrypted if unset. */
  encryption: z.object({ keyId: z.string().min(1) }).optional(),
  /** File names of the other objects of this backup. */
  objects: z.object({ snapshot: objectName, bundle: objectName.optional() }),
});
export type Manifest = z.output<typeof Manifest>;

/** The stored form of a manifest. It is readable by people, who may need it in a disaster. */
export function serializeManifest(manifest: Manifest): string {
  return `${JSON.stringify(Manifest.parse(manifest), undefined, 2)}\n`;
}

/**
 * Reads the manifest of a backup. Throws a sentence for the user if it is not JSON, has a newer format, is incomplete,
 * or belongs to another backup.
 */
export function parseManifest(text: string, backup: BackupName): Manifest {
  const id = backupId(backup);
  const parsed = Manifest.safeParse(readJson(text, id));
  if (!parsed.success) throw new Error(`the manifest of backup ${id} cannot be read: ${faults(parsed.error)}`);
  const found = backupId({ time: Date.parse(parsed.data.time), revision: parsed.data.revision });
  if (found !== id) throw new Error(`the manifest of backup ${id} belongs to backup ${found}: use another backup`);
  return parsed.data;
}

function readJson(text: string, id: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`the manifest of backup ${id} is not JSON: it is damaged, use another backup`, { cause });
  }
}

function faults(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) =>
      path[0] === 'formatVersion'
        ? 'its format is not supported, because a newer version of the provider wrote it'
        : `${path.join('.')}: ${message}`,
    )
    .join('; ');
}

/** Actual content of a restored etcd, to compare with the manifest. */
interface FoundContent {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The newest revision. */
  readonly revision: number;
  /** At the revision of the manifest. */
  readonly keys: Manifest['keys'];
}

/**
 * The differences between the content and the manifest, as sentences; none if the backup is good. A higher revision
 * than that of the manifest is no difference, because writes continue while the snapshot is requested.
 */
export function contentFaults(manifest: Manifest, found: FoundContent): string[] {
  const faults: string[] = [];
  if (found.sha256 !== manifest.sha256) faults.push(`the hash is ${found.sha256} instead of ${manifest.sha256}`);
  if (found.sizeBytes !== manifest.sizeBytes) {
    faults.push(`the size is ${found.sizeBytes} bytes instead of ${manifest.sizeBytes}`);
  }
  if (found.revision < manifest.revision) {
    faults.push(`the newest revision is ${found.revision}, but ${manifest.revision} was backed up`);
  }
  return [...faults, ...keyFaults(manifest.keys, found.keys)];
}

function keyFaults(promised: Manifest['keys'], found: Manifest['keys']): string[] {
  const resources = [...new Set([...Object.keys(promised.byResource), ...Object.keys(found.byResource)])].sort();
  return [
    ['all resources', promised.total, found.total] as const,
    ...resources.map((name) => [name, promised.byResource[name] ?? 0, found.byResource[name] ?? 0] as const),
  ]
    .filter(([, expected, actual]) => expected !== actual)
    .map(([name, expected, actual]) => `there are ${actual} keys of ${name} instead of ${expected}`);
}
