import { auditAccessAnnotation } from '../../constructs/api/group.ts';
import type { AuditTarget, TokenSource } from '../../constructs/control-plane/api-server/audit/targets.ts';
import { isForbidden } from '../kube/errors.ts';
import { type SecretObject, valueOf } from '../pki/secret.ts';

/** A Secret of any namespace, read from the API server; undefined if it does not exist. */
export type ReadSecret = (name: {
  readonly namespace: string;
  readonly name: string;
}) => Promise<SecretObject | undefined>;

/** The token of a receiver, or why there is none, as a sentence for the user without any value. */
export type FoundToken = { readonly token: string } | { readonly problem: string };

/**
 * Reads the token of a receiver for a HostedControlPlane in this namespace. A Secret of another namespace must name it:
 * otherwise a tenant could make the operator send any key of any Secret to any receiver.
 */
export async function findToken({ token }: AuditTarget, reader: string, read: ReadSecret): Promise<FoundToken> {
  if (!token) return { problem: 'no token is asked for' };
  const { namespace, name, key } = token;
  const secret = await read(token).catch((error: unknown) => {
    if (isForbidden(error)) return 'unreadable' as const;
    throw error;
  });
  if (secret === 'unreadable') return { problem: unreadable(token) };
  if (!secret || !mayRead(reader, namespace, secret)) return { problem: missing(token, reader) };
  const value = valueOf(secret, key)?.trim();
  const place = `Secret ${namespace}/${name} with the token of an audit receiver`;
  if (!value) return { problem: `${place} has no key ${key}: add it, or correct tokenKey` };
  // Everything else cannot be sent in a header.
  if (!/^[\x21-\x7e]+$/.test(value))
    return {
      problem: `${place} has more than one line, or characters other than ASCII, in its key ${key}: correct it`,
    };
  return { token: value };
}

function mayRead(reader: string, namespace: string, { metadata }: SecretObject): boolean {
  if (namespace === reader) return true;
  const admitted = (metadata.annotations?.[auditAccessAnnotation] ?? '').split(',').map((entry) => entry.trim());
  return admitted.includes(reader) || admitted.includes('*');
}

function unreadable({ namespace, name }: TokenSource): string {
  return `the operator may not read Secret ${namespace}/${name} with the token of an audit receiver: grant its ServiceAccount to get, list and watch ${name} by a Role in namespace ${namespace}, or name a Secret of the namespace of the HostedControlPlane`;
}

/** The same whether the Secret is missing or not shared, to hide which Secrets other namespaces have. */
function missing({ namespace, name }: TokenSource, reader: string): string {
  const place = `Secret ${namespace}/${name} with the token of an audit receiver`;
  return namespace === reader
    ? `${place} does not exist: create it`
    : `${place} does not exist or does not let namespace ${reader} use it: create it with the annotation ${auditAccessAnnotation}: ${reader}`;
}
