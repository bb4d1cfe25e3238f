import type { SecretObject } from '../../../imports/kubernetes.ts';
import { requestedForLabel } from '../../../constructs/api/group.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { ownSecret, type SecretProps, valueOf } from '../../pki/secret.ts';

/** The Secret with the key of a requested CA. @param requestedFor the Secret for both */
export function requestSecret(props: SecretProps, requestedFor: string, key: string): RenderedObject {
  return ownSecret(props, 'Opaque', { 'tls.key': key }, { labels: { [requestedForLabel]: requestedFor } });
}

/** The stored key; empty if there is none. */
export function requestedKey(secret: SecretObject): string {
  return valueOf(secret, 'tls.key') ?? '';
}

/** The Secret for which an object was created. */
export function requestedFor({ metadata }: Pick<SecretObject, 'metadata'>): string | undefined {
  return metadata.labels?.[requestedForLabel];
}
