/** What a field manager owns of an object; the server keeps one per manager, operation and subresource. */
export interface ManagedFieldsEntry {
  readonly manager?: string | undefined;
  readonly operation?: 'Apply' | 'Update' | undefined;
  readonly apiVersion?: string | undefined;
  readonly time?: string | undefined;
  readonly fieldsType?: string | undefined;
  readonly fieldsV1?: Readonly<Record<string, unknown>> | undefined;
  readonly subresource?: string | undefined;
}

/** A reference that makes the garbage collector delete this object together with its owner. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean | undefined;
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** metadata as it is on the wire; what only the server sets is absent from a rendered object. */
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

/**
 * Any Kubernetes object as plain JSON. Kinds whose fields matter extend it by optional ones; it declares none of them
 * itself, so that it can be read as any of these.
 */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** What names an object within its resource. A cluster-wide object has no namespace. */
export interface ObjectName {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** `namespace/name`, or `name` for cluster-wide objects: the key of caches and queues. */
export function objectKey(object: ObjectName): string {
  return object.namespace ? `${object.namespace}/${object.name}` : object.name;
}

/** The name a key of `objectKey` stands for. */
export function objectName(key: string): ObjectName {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Whether this is the owner that looks after the object. @param uid of the owner */
export function isControlledBy({ metadata }: KubeObject, uid: string | undefined): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) ?? false;
}

/** `Kind namespace/name`, as messages for people spell it. */
export function describeObject(object: KubeObject): string {
  return `${object.kind} ${objectKey(object.metadata)}`;
}

/**
 * What identifies an object among all kinds. The version is left out: v1beta1 and v1 of a kind are the same object, and
 * two groups may well use the same kind.
 */
export function identityOf(object: KubeObject): string {
  const group = object.apiVersion.includes('/') ? object.apiVersion.slice(0, object.apiVersion.indexOf('/')) : '';
  return `${group}/${object.kind}/${objectKey(object.metadata)}`;
}

/** Whether the first resourceVersion was written before the second. Kubernetes has them ordered as numbers since 1.35. */
export function isOlder(resourceVersion: string, than: string): boolean {
  return BigInt(resourceVersion) < BigInt(than);
}
