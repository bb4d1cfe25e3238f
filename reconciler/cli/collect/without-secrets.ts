import { ConfigMap, Secret } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../kube/object.ts';

/** What is written in the place of something that may be secret. */
const removed = '<removed>';

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * An object without what may be secret, for people who help: of a Secret only its keys with their sizes; of any other object no
 * values of environment variables, which users set as they like, and no copy of itself in an annotation.
 */
export function withoutSecrets(object: KubeObject): object {
  const { managedFields: _, annotations, ...metadata } = object.metadata as Metadata;
  const kept = { ...metadata, ...(annotations && { annotations: withoutCopies(annotations) }) };
  if (object.kind === Secret.kind) return secretOf(object, kept);
  if (object.kind === ConfigMap.kind) return configMapOf(object, kept);
  return { ...(withoutValues(object) as object), metadata: kept };
}

type Metadata = KubeObject['metadata'] & { readonly managedFields?: unknown };

function secretOf(object: SecretObject, metadata: object): object {
  const { apiVersion, kind, type, data = {} } = object;
  const keys = Object.entries(data).map(([key, value]) => [key, `${Buffer.from(value, 'base64').length} bytes`]);
  return { apiVersion, kind, metadata, type, data: Object.fromEntries(keys) as object };
}

/** The record of an accepted spec is an object in a text. */
function configMapOf(object: ConfigMapObject, metadata: object): object {
  const texts = Object.entries(object.data ?? {}).map(([key, text]) => [key, textWithoutValues(text)]);
  return { ...object, metadata, data: Object.fromEntries(texts) as object };
}

function textWithoutValues(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    return JSON.stringify(withoutValues(JSON.parse(text)));
  } catch {
    return text;
  }
}

/** `kubectl apply` keeps the whole object in one. */
function withoutCopies(annotations: Readonly<Record<string, string>>): object {
  return Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [
      name,
      name.endsWith('last-applied-configuration') ? removed : value,
    ]),
  );
}

/** Every list `env`, wherever it is, without its values. */
export function withoutValues(value: unknown, name?: string): unknown {
  if (Array.isArray(value)) {
    const entries = value.map((entry) => withoutValues(entry));
    return name === 'env' ? entries.map(withoutValue) : entries;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutValues(child, key)]));
}

function withoutValue(entry: unknown): unknown {
  return typeof entry === 'object' && entry !== null && 'value' in entry ? { ...entry, value: removed } : entry;
}
