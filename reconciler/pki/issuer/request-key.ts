import { requestedForLabel } from '../../../constructs/api/group.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { objectLabels } from '../../../constructs/control-plane/labels.ts';
import { type SecretObject, type SecretProps, valueOf } from '../secret.ts';

/** Name of the Secret that keeps the key of an authority from before it is asked for until it is there. */
export const requestSecretName = (secret: string): string => `${secret}-request`;

/** The Secret with the key that an authority is being asked for. @param requestedFor the Secret that shall hold both */
export function requestSecret(props: SecretProps, requestedFor: string, key: string): RenderedObject {
  return {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: {
      name: props.name,
      namespace: props.namespace,
      labels: { ...objectLabels(props.cluster, 'certificates'), [requestedForLabel]: requestedFor },
      ownerReferences: [props.owner],
    },
    type: 'Opaque',
    data: { 'tls.key': Buffer.from(key, 'utf8').toString('base64') },
  };
}

/** The key it keeps; empty when there is none. */
export function requestedKey(secret: SecretObject): string {
  return valueOf(secret, 'tls.key') ?? '';
}

/** The Secret that an object is made or kept for. */
export function requestedFor({ metadata }: Pick<SecretObject, 'metadata'>): string | undefined {
  return metadata.labels?.[requestedForLabel];
}
