import type { SecretObject } from '../../../imports/kubernetes.ts';
import { auditAccessAnnotation, auditReceiversAnnotation } from '../../../constructs/api/group.ts';
import type { AuditTarget, TokenSource } from '../../../constructs/control-plane/api-server/audit/targets.ts';
import { isForbidden } from '../../kube/errors.ts';
import { valueOf } from '../../pki/secret.ts';
import { grantOf, receiverOf } from './receiver-grant.ts';

/** A Secret of any namespace, read from the API server; undefined if it does not exist. */
export type ReadSecret = (name: {
  readonly namespace: string;
  readonly name: string;
}) => Promise<SecretObject | undefined>;

/** The token of a receiver, or why there is none, as a sentence for the user without any value. */
export type FoundToken = { readonly token: string } | { readonly problem: string };

/**
 * Reads the token of a receiver for a HostedControlPlane in this namespace. The Secret must name the receiver, and one of another
 * namespace this namespace, too: otherwise a tenant could make the operator send any key of any Secret anywhere.
 */
export async function findToken({ token, server }: AuditTarget, reader: string, read: ReadSecret): Promise<FoundToken> {
  if (!token) return { problem: 'no token is asked for' };
  const { namespace, name, key } = token;
  const secret = await read(token).catch((error: unknown) => {
    if (isForbidden(error)) return 'unreadable' as const;
    throw error;
  });
  if (secret === 'unreadable') return { problem: unreadable(token) };
  const receiver = receiverOf(server);
  const grant = secret && grantOf(secret, reader, receiver);
  // The same whether a Secret of another namespace is missing or not shared, to hide which Secrets there are.
  if (!secret || !grant?.isForNamespace || (namespace !== reader && !grant.isForReceiver))
    return { problem: missing(token, reader, receiver) };
  const place = `Secret ${namespace}/${name} with the token of an audit receiver`;
  if (!grant.isForReceiver)
    return {
      problem: `${place} does not let its token be sent to ${receiver}: add ${receiver} to its annotation ${auditReceiversAnnotation}`,
    };
  // Controllers fill Secrets of other types: who creates one for a ServiceAccount does not have to know its token.
  if ((secret.type ?? 'Opaque') !== 'Opaque')
    return { problem: `${place} is of type ${secret.type}: copy the token into a Secret of type Opaque` };
  const value = valueOf(secret, key)?.trim();
  if (!value) return { problem: `${place} has no key ${key}: add it, or correct tokenKey` };
  // Everything else cannot be sent in a header.
  if (!/^[\x21-\x7e]+$/.test(value))
    return {
      problem: `${place} has more than one line, or characters other than ASCII, in its key ${key}: correct it`,
    };
  return { token: value };
}

function unreadable({ namespace, name }: TokenSource): string {
  return `the operator may not read Secret ${namespace}/${name} with the token of an audit receiver: grant its ServiceAccount to get, list and watch ${name} by a Role in namespace ${namespace}, or name a Secret of the namespace of the HostedControlPlane`;
}

function missing({ namespace, name }: TokenSource, reader: string, receiver: string): string {
  const place = `Secret ${namespace}/${name} with the token of an audit receiver`;
  const receivers = `${auditReceiversAnnotation}: ${receiver}`;
  return namespace === reader
    ? `${place} does not exist: create it with the annotation ${receivers}`
    : `${place} does not exist or does not let namespace ${reader} send it to ${receiver}: create it with the annotations ${auditAccessAnnotation}: ${reader} and ${receivers}`;
}
