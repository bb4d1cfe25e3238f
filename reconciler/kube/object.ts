/** What a field manager owns of an object; the server keeps one per manager, operation and subresource. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
  readonly subresource?: string;
}

/** A reference that makes the garbage collector delete this object together with its owner. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** metadata as it is on the wire; what only the server sets is absent from a rendered object. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** Any Kubernetes object as plain JSON. Kinds whose fields matter extend it; all others pass through untouched. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
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
