import type { SecretObject } from '../../imports/kubernetes.ts';
import { isDeepStrictEqual } from 'node:util';
import { copyOfAnnotation, discardedAnnotation, keyFinalizer } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { OwnerReference, RenderedObject } from '../../constructs/control-plane/chart.ts';
import { copySecretName, namesOf } from '../../constructs/cluster/names.ts';
import { isControlledBy, type KubeObject } from '../kube/object.ts';
import type { ControlPlaneContext, Reader, Writer } from '../clusters/management/view.ts';
import { keptSecrets } from './kept-secrets.ts';
import { secretProps } from './secret-props.ts';

/** Write access that the replacement of a Secret needs, which a deletion has too. */
export type SecretWriter = Pick<Writer, 'createOnce' | 'delete' | 'setFinalizers'>;

/** A Secret that the garbage collector must not take, and the copy that holds its content while the Secret is replaced, as far as they exist. */
export interface HeldSecret {
  readonly name: string;
  readonly original: SecretObject | undefined;
  readonly copy: SecretObject | undefined;
}

/** Those that retained volumes need, and the identity without which the operator cannot take a last backup. */
export function heldSecrets(cluster: string, reader: Pick<Reader, 'get'>): HeldSecret[] {
  return [...keptSecrets(cluster), namesOf(cluster).secrets.etcdController].map((name) => {
    const copy = reader.get<SecretObject>(Secret, copySecretName(name));
    const original = reader.get<SecretObject>(Secret, name);
    return { name, original, copy: copy && copyOfAnnotation in (copy.metadata.annotations ?? {}) ? copy : undefined };
  });
}

/** What to do so that one `kubectl delete` cannot lose it. */
export type HoldStep =
  | 'none'
  /** A Secret of an earlier release has no finalizer yet. */
  | 'protect'
  /** It is being deleted, which nothing takes back: another Secret of its name takes its place. */
  | 'replace'
  /** It has its place, and the copy can go. */
  | 'tidy'
  /** The copy has another content, and only a person knows which one is right. */
  | 'differs'
  /** The Secret has changed since the copy was made, and still exists. */
  | 'copyAgain';

/** @param uid of the HostedControlPlane, which never holds what belongs to a user */
export function planHold({ original, copy }: HeldSecret, uid: string | undefined): HoldStep {
  const isEnding = original?.metadata.deletionTimestamp !== undefined;
  if (copy) {
    if (original && !isSame(original, copy)) return isEnding ? 'copyAgain' : 'differs';
    return original && !isEnding ? 'tidy' : 'replace';
  }
  if (!original || isDiscarded(original) || !isControlledBy(original, uid)) return 'none';
  if (isEnding) return 'replace';
  return isHeld(original) ? 'none' : 'protect';
}

type Context = Pick<ControlPlaneContext, 'cluster' | 'hostedControlPlane' | 'reader' | 'writer'>;

/** What has happened to the Secrets that cannot be made again. */
export interface HeldSecrets {
  /** Deleted by a person, and in their place again. */
  readonly replaced: readonly string[];
  /** Why others are not, as sentences. */
  readonly problems: readonly string[];
}

/** Holds the keys of a control plane, and replaces those that are being deleted, before any phase reads them. */
export async function holdSecrets(context: Context): Promise<HeldSecrets> {
  const replaced: string[] = [];
  const problems: string[] = [];
  for (const held of heldSecrets(context.cluster.name, context.reader)) {
    const step = planHold(held, context.hostedControlPlane.metadata.uid);
    const problem = await hold(context, held, step);
    if (problem !== undefined) problems.push(problem);
    else if (step === 'replace' || step === 'copyAgain') replaced.push(held.name);
  }
  return { replaced, problems };
}

async function hold(context: Context, held: HeldSecret, step: HoldStep): Promise<string | undefined> {
  const { writer } = context;
  const { name, original, copy } = held;
  const { owner } = secretProps(context, name);
  const successor = { ownerReferences: [owner], finalizers: [keyFinalizer] };
  switch (step) {
    case 'none':
      return undefined;
    case 'protect':
      if (original)
        await writer.setFinalizers(Secret, original, [...(original.metadata.finalizers ?? []), keyFinalizer]);
      return undefined;
    case 'tidy':
      if (copy) await discardSecret(writer, copy);
      return undefined;
    case 'differs':
      return describeDiffering(name);
    case 'copyAgain':
      if (copy) await discardSecret(writer, copy);
      return replaceSecret(writer, { ...held, copy: undefined }, successor);
    case 'replace':
      return replaceSecret(writer, held, successor);
  }
}

/** Whether it belongs to this HostedControlPlane, and not to a user or to another object. */
export function belongsTo({ original, copy }: HeldSecret, uid: string | undefined): boolean {
  if (original) return isControlledBy(original, uid);
  return copy !== undefined && copy.metadata.annotations?.[copyOfAnnotation] === uid;
}

function describeDiffering(name: string): string {
  return `Secret ${name} was deleted, and then written with another content than before, which Secret ${copySecretName(name)} still has: delete the wrong one of both`;
}

/** What a Secret in the place of a deleted one gets besides its content, labels and annotations. */
interface Successor {
  readonly ownerReferences: OwnerReference[];
  readonly finalizers: string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Replaces a Secret that is being deleted by one of the same content. Its finalizer goes only once a copy exists, and the copy only
 * once the successor does: a process that is killed in between leaves one of them.
 * @returns why it cannot be completed now, as a sentence
 * @throws in a namespace that is being deleted, see {@link isNamespaceEnding}, and then has changed nothing
 */
export async function replaceSecret(
  writer: SecretWriter,
  { name, original, copy }: HeldSecret,
  successor: Successor,
): Promise<string | undefined> {
  const safe = copy ?? (original && (await writer.createOnce<SecretObject>(copyOf(original))));
  if (!safe) return undefined;
  if (original && !isSame(original, safe)) return describeDiffering(name);
  if (original) await releaseSecret(writer, original);
  const live = await writer.createOnce<SecretObject>(successorOf(name, safe, successor));
  if (live.metadata.deletionTimestamp !== undefined)
    return `Secret ${name} is being deleted, and finalizers of others hold it: ${live.metadata.finalizers?.join(', ') ?? ''}`;
  if (!isSame(live, safe)) return describeDiffering(name);
  await discardSecret(writer, safe);
  return undefined;
}

/**
 * Deletes a Secret that is not needed any more. It is marked in the write that releases it: otherwise one that could not be deleted
 * then would be held, and released, again and again.
 */
export async function discardSecret(writer: SecretWriter, secret: KubeObject): Promise<void> {
  if (isHeld(secret)) await writer.setFinalizers(Secret, secret, otherFinalizers(secret), discarded);
  await writer.delete(Secret, secret);
}

/** Lets the deletion of a Secret complete. */
export async function releaseSecret(writer: Pick<SecretWriter, 'setFinalizers'>, secret: KubeObject): Promise<void> {
  if (isHeld(secret)) await writer.setFinalizers(Secret, secret, otherFinalizers(secret));
}

const discarded = { [discardedAnnotation]: 'true' };

function isDiscarded({ metadata }: KubeObject): boolean {
  return discardedAnnotation in (metadata.annotations ?? {});
}

function otherFinalizers({ metadata }: KubeObject): string[] {
  return metadata.finalizers?.filter((one) => one !== keyFinalizer) ?? [];
}

export function isHeld({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(keyFinalizer) ?? false;
}

function isSame(one: SecretObject, other: SecretObject): boolean {
  return one.type === other.type && isDeepStrictEqual(one.data, other.data);
}

/** Without owner, so that the garbage collector does not delete it with the owner of the Secret. */
function copyOf(original: SecretObject): RenderedObject {
  const { name, annotations, ownerReferences } = original.metadata;
  const owner = ownerReferences?.find(({ controller }) => controller)?.uid ?? '';
  const metadata = { annotations: { ...annotations, [copyOfAnnotation]: owner }, finalizers: [keyFinalizer] };
  return withContentOf(original, copySecretName(name), metadata);
}

function successorOf(name: string, copy: SecretObject, { annotations, ...metadata }: Successor): RenderedObject {
  const { [copyOfAnnotation]: _, ...own } = copy.metadata.annotations ?? {};
  return withContentOf(copy, name, { ...metadata, annotations: { ...own, ...annotations } });
}

function withContentOf(
  { metadata: { namespace = '', labels = {} }, type, data }: SecretObject,
  name: string,
  metadata: Partial<RenderedObject['metadata']>,
): RenderedObject {
  const { apiVersion, kind } = Secret;
  return {
    apiVersion,
    kind,
    metadata: { ...metadata, name, namespace, labels: { ...labels } },
    ...(type ? { type } : {}),
    data,
  };
}
