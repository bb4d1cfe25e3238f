import { encryptionConfigurationFile } from '../../constructs/control-plane/api-server/flags.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { ownSecret, type SecretObject, type SecretProps, valueOf } from '../pki/secret.ts';
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

/** Hash of the configuration that all API servers were seen to have loaded. */
export const loadedAnnotation = 'controlplane.cluster.x-k8s.io/encryption-loaded';

/** `spec.encryptionAtRest.rotation` as it was when the newest key was made. */
export const rotationAnnotation = 'controlplane.cluster.x-k8s.io/encryption-rotation';

/**
 * Keys that no API server has any more. Backups of their time hold Secrets under them, and without them a restore of one
 * would lose those Secrets.
 */
const retiredKeys = 'retired-keys.yaml';

/** So many are kept, the newest ones, when another is retired. */
const retiredLimit = 50;

/** What the Secret with the encryption configuration says. It is the truth: nothing of it stands anywhere else. */
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

/** Reads the Secret; undefined when it holds no configuration of ours. */
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

/** The keys with another configuration, which nobody has loaded yet. A key that it lacks is retired. */
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
 * The Secret as it is to be. Like those of certificates it is made here and not in a chart.
 * @param basis what it was made from: writing it fails when somebody, such as an operator before us, has written since
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
    annotations: { [loadedAnnotation]: isLoaded ? hash : '', [rotationAnnotation]: rotation },
    resourceVersion: inputsKey?.metadata.resourceVersion,
  });
}

function has(providers: readonly Provider[], key: Key): boolean {
  return providers.some((provider) => provider !== identity && provider.name === key.name);
}
