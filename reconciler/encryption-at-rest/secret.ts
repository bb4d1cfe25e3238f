import type { SecretObject } from '../../imports/kubernetes.ts';
import { keyFinalizer } from '../../constructs/api/group.ts';
import { encryptionConfigurationFile } from '../../constructs/control-plane/api-server/flags.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { ownSecret, type SecretProps, valueOf } from '../pki/secret.ts';
import {
  configurationHash,
  formatConfiguration,
  formatKeys,
  identity,
  type Key,
  nameOf,
  parseConfiguration,
  newKey,
  parseKeys,
  type Provider,
} from './configuration.ts';
import { fresh } from './plan-rotation.ts';

/** Hash of the configuration that all API servers have reported as loaded. */
const loadedAnnotation = 'controlplane.cluster.x-k8s.io/encryption-loaded';

/** `spec.encryptionAtRest.rotation` when the newest key was created. */
const rotationAnnotation = 'controlplane.cluster.x-k8s.io/encryption-rotation';

/**
 * Keys that no API server has any more. Backups of their time contain Secrets that are encrypted with them. Without the
 * keys, a restore would lose those Secrets.
 */
const retiredKeys = 'retired-keys.yaml';

/** Number of newest retired keys to keep when another key is retired. */
const retiredLimit = 50;

/**
 * Content of the Secret with the encryption configuration. It is the only source: no other object contains any of it.
 */
export interface EncryptionKeys {
  readonly providers: readonly Provider[];
  readonly retired: readonly Key[];
  /** See {@link rotationAnnotation}. */
  readonly rotation: string;
  /** See {@link configurationHash}. */
  readonly hash: string;
  /** Every API server has loaded it. */
  readonly isLoaded: boolean;
}

/** Reads the Secret; undefined if it contains no configuration of the operator. */
export function readEncryptionKeys(secret: SecretObject): EncryptionKeys | undefined {
  const text = valueOf(secret, encryptionConfigurationFile) ?? '';
  const providers = parseConfiguration(text);
  if (!providers) return undefined;
  const { annotations = {} } = secret.metadata;
  const hash = configurationHash(text);
  return {
    providers,
    retired: parseKeys(valueOf(secret, retiredKeys) ?? ''),
    rotation: annotations[rotationAnnotation] ?? '',
    hash,
    isLoaded: annotations[loadedAnnotation] === hash,
  };
}

/** The keys with another configuration, which no API server has loaded yet. Keys that are not in it are retired. */
export function reconfigured(
  { providers: before, retired }: Pick<EncryptionKeys, 'providers' | 'retired'>,
  providers: readonly Provider[],
  rotation: string,
): EncryptionKeys {
  const gone = before.filter((provider) => provider !== identity).filter((key) => !has(providers, key));
  return {
    providers,
    retired:
      gone.length === 0 ? retired : [...gone, ...retired.filter((key) => !has(gone, key))].slice(0, retiredLimit),
    rotation,
    hash: configurationHash(formatConfiguration(providers)),
    isLoaded: false,
  };
}

/** The providers with these names, from the current and the retired keys, and a new key where one is requested. */
export function providersNamed(
  names: readonly string[],
  keys: Pick<EncryptionKeys, 'providers' | 'retired'>,
  now: Date,
): Provider[] {
  const known = keysIn(keys);
  return names.flatMap((name): Provider[] => {
    if (name === identity) return [identity];
    if (name === fresh) return [newKey(now, known.map(nameOf))];
    return known.filter((key) => key.name === name);
  });
}

/** Result of an attempt to add keys to the existing ones. */
type Adoption =
  | { readonly kind: 'adopted'; readonly keys: EncryptionKeys }
  /** All of them exist already. */
  | { readonly kind: 'known' }
  /** Another key with this name exists, and encrypted data contains only the name. */
  | { readonly kind: 'clash'; readonly name: string };

/**
 * Adds keys of another cluster, or of another time, to the retired keys. API servers read with them during the restore
 * of a backup, and never write with them. No key is dropped to make space: the next rotation removes surplus keys.
 */
export function adopt(keys: EncryptionKeys, others: readonly Key[]): Adoption {
  const own = keysIn(keys);
  const clash = others.find(({ name, secret }) => own.some((key) => key.name === name && key.secret !== secret));
  if (clash) return { kind: 'clash', name: clash.name };
  const missing = others.filter(({ name }) => !own.some((key) => key.name === name));
  if (missing.length === 0) return { kind: 'known' };
  return { kind: 'adopted', keys: { ...keys, retired: [...missing, ...keys.retired] } };
}

/** All keys, those in use first, each of them once. */
export function keysIn({ providers, retired }: Pick<EncryptionKeys, 'providers' | 'retired'>): Key[] {
  const all: readonly Key[] = [...providers.filter((provider) => provider !== identity), ...retired];
  return all.filter((key, index) => all.findIndex(({ name }) => name === key.name) === index);
}

/**
 * The desired Secret. Like those of certificates, it is created here and not in a chart.
 * @param inputsKey the Secret from which it was derived: writing fails if another client, such as a previous operator,
 * has written since
 */
export function encryptionSecret(
  props: SecretProps,
  { providers, retired, rotation, hash, isLoaded }: EncryptionKeys,
  inputsKey?: SecretObject,
): RenderedObject {
  const values = {
    [encryptionConfigurationFile]: formatConfiguration(providers),
    [retiredKeys]: formatKeys(retired),
  };
  return ownSecret(props, 'Opaque', values, {
    finalizers: [keyFinalizer],
    annotations: { [loadedAnnotation]: isLoaded ? hash : '', [rotationAnnotation]: rotation },
    resourceVersion: inputsKey?.metadata.resourceVersion,
  });
}

function has(providers: readonly Provider[], key: Key): boolean {
  return providers.some((provider) => provider !== identity && provider.name === key.name);
}
