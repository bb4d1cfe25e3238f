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
  parseConfiguration,
  parseKeys,
  type Provider,
} from './configuration.ts';

/** Hash of the configuration that all API servers have reported as loaded. */
export const loadedAnnotation = 'controlplane.cluster.x-k8s.io/encryption-loaded';

/** `spec.encryptionAtRest.rotation` when the newest key was created. */
export const rotationAnnotation = 'controlplane.cluster.x-k8s.io/encryption-rotation';

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
