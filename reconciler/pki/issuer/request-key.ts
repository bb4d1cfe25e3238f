import { requestedForLabel } from '../../../constructs/api/group.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { ownSecret, type SecretObject, type SecretProps, valueOf } from '../secret.ts';

/** The Secret with the key that an authority is being asked for. @param requestedFor the Secret that shall hold both */
export function requestSecret(props: SecretProps, requestedFor: string, key: string): RenderedObject {
  return ownSecret(props, 'Opaque', { 'tls.key': key }, { labels: { [requestedForLabel]: requestedFor } });
}

/** The key it keeps; empty when there is none. */
export function requestedKey(secret: SecretObject): string {
  return valueOf(secret, 'tls.key') ?? '';
}

/** The Secret that an object is made or kept for. */
export function requestedFor({ metadata }: Pick<SecretObject, 'metadata'>): string | undefined {
  return metadata.labels?.[requestedForLabel];
}
