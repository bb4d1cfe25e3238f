import type { SecretObject } from '../../imports/kubernetes.ts';
import { z } from 'zod';
import {
  backupAnnotation,
  group,
  movedDataAnnotation,
  pausedAnnotation,
  prepareMoveAnnotation,
} from '../../constructs/api/group.ts';
import { namesOf } from '../../constructs/cluster/names.ts';

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

/**
 * Everything that a rebuild of the cluster in another management cluster needs, besides the snapshot that the bundle
 * accompanies.
 */
export const RecoveryBundle = z.object({
  /** Increased when a reader of this version would misinterpret a bundle. New optional fields do not increase it. */
  formatVersion: z.literal(1),
  /** Without status, and without fields that belong to its management cluster. */
  hostedControlPlane: KeptObject,
  cluster: KeptObject,
  /** CAs and keys, with data in base64 as the API returns it. */
  secrets: z.array(
    z.object({ name: z.string().min(1), type: z.string().optional(), annotations: texts.optional(), data: texts }),
  ),
});
export type RecoveryBundle = z.output<typeof RecoveryBundle>;

/**
 * Names of the Secrets of a Cluster that cannot be recreated: the CAs and keys that sign for workers, kubeconfigs and
 * tokens, and the keys that encrypt Secrets in etcd. Everything else is issued again.
 */
export function recoveryBundleSecretNames(cluster: string): readonly string[] {
  const { secrets } = namesOf(cluster);
  const { clusterCA, etcdCA, frontProxyCA, serviceAccount, encryption } = secrets;
  return [clusterCA, etcdCA, frontProxyCA, serviceAccount, encryption];
}

/** Content of a bundle. */
interface RecoveryBundleSource {
  /** With the settings of its component template, if it refers to one. */
  readonly hostedControlPlane: object;
  readonly clusterObject: object;
  /** The existing Secrets of {@link recoveryBundleSecretNames}. */
  readonly secrets: readonly SecretObject[];
}

/** The text of a bundle. It contains keys of the cluster, and must leave the process only encrypted. */
export function serializeRecoveryBundle({ hostedControlPlane, clusterObject, secrets }: RecoveryBundleSource): string {
  return JSON.stringify({
    formatVersion: 1,
    hostedControlPlane: withoutTemplate(kept(hostedControlPlane)),
    cluster: kept(clusterObject),
    secrets: secrets.map(keptSecret),
  } satisfies RecoveryBundle);
}

/** The spec has the settings of its component template, which the other management cluster may not have. */
function withoutTemplate({ spec, ...rest }: KeptObject): KeptObject {
  const { componentTemplateRef: _, ...standalone } = spec;
  return { ...rest, spec: standalone };
}

/** Includes the operator's own annotations, which describe the data: the progress of a rotation of keys. */
function keptSecret({ metadata, type, data = {} }: SecretObject): RecoveryBundle['secrets'][number] {
  const own = Object.entries(metadata.annotations ?? {}).filter(([name]) => name.startsWith(`${group}/`));
  const annotations = own.length > 0 ? { annotations: Object.fromEntries(own) } : {};
  return { name: metadata.name, ...(type ? { type } : {}), ...annotations, data };
}

/** Longer than any bundle: two objects of at most 1.5 MB each, and some keys. */
const longestBytes = 16 << 20;

/** Reads a whole bundle. Throws a sentence for the user, without its content. */
export async function readRecoveryBundle(stream: AsyncIterable<Uint8Array>): Promise<RecoveryBundle> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > longestBytes)
      throw new Error('the recovery bundle is too long, so the operator did not write it: use another backup');
    chunks.push(chunk);
  }
  return parseRecoveryBundle(Buffer.concat(chunks).toString('utf8'));
}

/** Reads the text of a bundle. Throws a sentence for the user, without its content. */
export function parseRecoveryBundle(text: string): RecoveryBundle {
  const parsed = RecoveryBundle.safeParse(json(text));
  if (parsed.success) return parsed.data;
  const paths = parsed.error.issues.map(({ path }) => path.join('.') || 'all of it');
  const isNewer = paths.includes('formatVersion');
  throw new Error(
    isNewer
      ? 'the format of the recovery bundle is not supported, because a newer version of the provider wrote it: use that version'
      : `the recovery bundle is invalid at ${paths.join(', ')}: use another backup`,
  );
}

/** Drops the parser's error, which quotes its input. */
function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the recovery bundle is not JSON, so it is damaged: use another backup');
  }
}

/** Annotations that request something once, or describe how the object was created. */
const transient = [
  backupAnnotation,
  pausedAnnotation,
  prepareMoveAnnotation,
  movedDataAnnotation,
  'kubectl.kubernetes.io/last-applied-configuration',
];

function kept(object: object): KeptObject {
  const { metadata, ...rest } = KeptObject.parse(object);
  if (!metadata.annotations) return { ...rest, metadata };
  const annotations = Object.entries(metadata.annotations).filter(([name]) => !transient.includes(name));
  return { ...rest, metadata: { ...metadata, annotations: Object.fromEntries(annotations) } };
}
