import type { SecretObject } from '../../../imports/kubernetes.ts';
import { auditAccessAnnotation, auditReceiversAnnotation } from '../../../constructs/api/group.ts';
import { listed } from '../../clusters/management/listed.ts';

/** What a Secret lets the operator do with its token. */
export interface ReceiverGrant {
  /** Whether HostedControlPlanes of the namespace may use it. */
  readonly isForNamespace: boolean;
  /** Whether it may be sent to the receiver. */
  readonly isForReceiver: boolean;
}

/**
 * The author of a spec chooses Secret and receiver, and may read neither that Secret nor any other: only the Secret itself says that it
 * holds a token for this receiver.
 * @param namespace of the HostedControlPlane
 * @param receiver host and port of the URL, as in {@link receiverOf}
 */
export function grantOf({ metadata }: SecretObject, namespace: string, receiver: string): ReceiverGrant {
  const namespaces = listed(metadata, auditAccessAnnotation);
  return {
    isForNamespace: metadata.namespace === namespace || namespaces.includes(namespace) || namespaces.includes('*'),
    isForReceiver: listed(metadata, auditReceiversAnnotation).includes(receiver),
  };
}

/** Host of a URL, with the port unless it is that of https. */
export function receiverOf(url: string): string {
  return new URL(url).host;
}
