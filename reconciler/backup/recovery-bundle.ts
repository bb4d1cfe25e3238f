import { z } from 'zod';
import { backupAnnotation, group, pausedAnnotation } from '../../constructs/api/group.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { SecretObject } from '../pki/secret.ts';

const texts = z.record(z.string(), z.string());

const Metadata = z.object({
  namespace: z.string().min(1),
  name: z.string().min(1),
  labels: texts.optional(),
  annotations: texts.optional(),
});

const KeptObject = z.object({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: Metadata,
  spec: z.record(z.string(), z.unknown()),
});
export type KeptObject = z.output<typeof KeptObject>;

/** What a cluster is rebuilt from in another management cluster, besides the snapshot that the bundle lies beside. */
export const RecoveryBundle = z.object({
  /** Raised when a reader of this version would misread a bundle. New optional fields do not raise it. */
  formatVersion: z.literal(1),
  /** Without status, and without what belongs to the management cluster it was in. */
  hostedControlPlane: KeptObject,
  cluster: KeptObject,
  /** Authorities and keys, data in base64 as the API gives it. */
  secrets: z.array(
    z.object({ name: z.string().min(1), type: z.string().optional(), annotations: texts.optional(), data: texts }),
  ),
});
export type RecoveryBundle = z.output<typeof RecoveryBundle>;

/**
 * Names of the Secrets of a Cluster that cannot be made again: what workers, kubeconfigs and tokens are signed by, and
 * the keys that Secrets in etcd are encrypted with. Everything else is issued anew.
 */
export function survivingSecrets(cluster: string): readonly string[] {
  const { secrets } = namesOf(cluster);
  const { clusterCA, etcdCA, frontProxyCA, serviceAccount, encryption } = secrets;
  return [clusterCA, etcdCA, frontProxyCA, serviceAccount, encryption];
}

/** What a bundle is made of. */
export interface RecoveryBundleSource {
  readonly hostedControlPlane: object;
  readonly clusterObject: object;
  /** Those of {@link survivingSecrets} that there are. */
  readonly secrets: readonly SecretObject[];
}

/** The text of a bundle. It holds keys of the cluster: it may leave only encrypted. */
export function serializeRecoveryBundle({ hostedControlPlane, clusterObject, secrets }: RecoveryBundleSource): string {
  return JSON.stringify({
    formatVersion: 1,
    hostedControlPlane: kept(hostedControlPlane),
    cluster: kept(clusterObject),
    secrets: secrets.map(keptSecret),
  } satisfies RecoveryBundle);
}

/** With our own annotations, which say what the data means: how far a rotation of keys is. */
function keptSecret({ metadata, type, data = {} }: SecretObject): RecoveryBundle['secrets'][number] {
  const own = Object.entries(metadata.annotations ?? {}).filter(([name]) => name.startsWith(`${group}/`));
  const annotations = own.length > 0 ? { annotations: Object.fromEntries(own) } : {};
  return { name: metadata.name, ...(type ? { type } : {}), ...annotations, data };
}

/** Longer than any: two objects of at most 1.5 MB each, and some keys. */
const longestBytes = 16 << 20;

/** Reads a whole bundle. Throws a sentence for the user, which quotes nothing of it. */
export async function readRecoveryBundle(stream: AsyncIterable<Uint8Array>): Promise<RecoveryBundle> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > longestBytes) throw new Error('the bundle is longer than any of ours: use another backup');
    chunks.push(chunk);
  }
  return parseRecoveryBundle(Buffer.concat(chunks).toString('utf8'));
}

/** Reads the text of a bundle. Throws a sentence for the user, which quotes nothing of it. */
export function parseRecoveryBundle(text: string): RecoveryBundle {
  const parsed = RecoveryBundle.safeParse(json(text));
  if (parsed.success) return parsed.data;
  const paths = parsed.error.issues.map(({ path }) => path.join('.') || 'all of it');
  const isNewer = paths.includes('formatVersion');
  throw new Error(
    isNewer
      ? 'the format of the bundle is not known here: a newer version of the provider wrote it, use that one'
      : `the bundle cannot be read, for ${paths.join(', ')}: use another backup`,
  );
}

/** Without the error of the parser, which quotes what it has read. */
function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the bundle is not JSON: it is damaged, use another backup');
  }
}

/** Annotations that ask for something once, or say how the object came here. */
const passing = [backupAnnotation, pausedAnnotation, 'kubectl.kubernetes.io/last-applied-configuration'];

function kept(object: object): KeptObject {
  const { metadata, ...rest } = KeptObject.parse(object);
  if (!metadata.annotations) return { ...rest, metadata };
  const annotations = Object.entries(metadata.annotations).filter(([name]) => !passing.includes(name));
  return { ...rest, metadata: { ...metadata, annotations: Object.fromEntries(annotations) } };
}
