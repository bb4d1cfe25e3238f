/**
 * The fields of an object that a field manager owns. The server keeps one entry per manager, operation and subresource.
 */
export interface ManagedFieldsEntry {
  readonly manager?: string | undefined;
  readonly operation?: 'Apply' | 'Update' | undefined;
  readonly apiVersion?: string | undefined;
  readonly time?: string | undefined;
  readonly fieldsType?: string | undefined;
  readonly fieldsV1?: Readonly<Record<string, unknown>> | undefined;
  /** Of `fieldsV1`, which the caches of the operator keep in its place. The server does not know it. */
  readonly fingerprint?: string | undefined;
  /** Fingerprint of the object as it was applied, if the server has stored it unchanged: likewise. */
  readonly applied?: string | undefined;
  readonly subresource?: string | undefined;
}

/** A reference because of which the garbage collector deletes this object together with its owner. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean | undefined;
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** Metadata as the API returns it. Fields that only the server sets are absent from a rendered object. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly generation?: number | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly deletionTimestamp?: string | undefined;
  readonly deletionGracePeriodSeconds?: number | undefined;
  readonly managedFields?: readonly ManagedFieldsEntry[] | undefined;
}

/** Any Kubernetes object as plain JSON. Kinds extend it with optional fields, so that it can be read as any of them. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** Name of an object within its resource. A cluster-scoped object has no namespace. */
export interface ObjectName {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key of caches and queues. */
export function objectKey(object: ObjectName): string {
  return object.namespace ? `${object.namespace}/${object.name}` : object.name;
}

/** The name for a key of `objectKey`. */
export function objectName(key: string): ObjectName {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Whether this owner controls the object. @param uid of the owner */
export function isControlledBy({ metadata }: KubeObject, uid: string | undefined): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) ?? false;
}

/** `Kind namespace/name`, for messages. */
export function describeObject(object: KubeObject): string {
  return `${object.kind} ${objectKey(object.metadata)}`;
}

/**
 * Identifies an object among all kinds. It excludes the version, because v1beta1 and v1 of a kind are the same object,
 * and includes the group, because two groups may have the same kind.
 */
export function identityOf(object: KubeObject): string {
  const group = object.apiVersion.includes('/') ? object.apiVersion.slice(0, object.apiVersion.indexOf('/')) : '';
  return `${group}/${object.kind}/${objectKey(object.metadata)}`;
}

/**
 * Whether the first resourceVersion was written before the second. They are ordered as numbers, which Kubernetes
 * guarantees since 1.35.
 */
export function isOlder(resourceVersion: string, than: string): boolean {
  return requireVersion(resourceVersion) < requireVersion(than);
}

/** As many digits as 64 bits have. Longer numbers take long to read. */
const version = /^\d{1,20}$/;

/** The resourceVersion as a number. @throws if a server sends something else */
export function requireVersion(resourceVersion: unknown): bigint {
  if (typeof resourceVersion === 'string' && version.test(resourceVersion)) return BigInt(resourceVersion);
  throw new TypeError('a resourceVersion is not a number: the server is not an API server of Kubernetes');
}
