import type { SecretObject } from '../../../imports/kubernetes.ts';
import { Deployment, Secret } from '../../../constructs/api/resources.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import {
  type AuditTarget,
  type TokenSource,
  auditTargets,
  fanOutKubeconfigKey,
  fanOutTokenKey,
  tokenKeyOf,
  usesFanOut,
} from '../../../constructs/control-plane/api-server/audit/targets.ts';
import { fanOutKubeconfig } from '../../../constructs/control-plane/api-server/audit/webhook.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import { encodedData, ownSecret, valueOf } from '../../pki/secret.ts';
import { secretProps } from '../../certificates/secret-props.ts';
import { auditAccessAnnotation, auditReceiversAnnotation } from '../../../constructs/api/group.ts';
import { isForbidden } from '../../kube/errors.ts';
import { listed } from '../../clusters/management/listed.ts';

/** What the pods of a control plane need to send audit records. */
export interface AuditSecretState {
  /** The Secret to apply; undefined while a token that the pods need is missing. */
  readonly secret: RenderedObject | undefined;
  /** What is wrong with the tokens of receivers; the ones of before stay in use. */
  readonly problems: readonly string[];
}

/** Whether a control plane needs a Secret for its audit records. */
export function needsAuditSecret(targets: readonly AuditTarget[]): boolean {
  return usesFanOut(targets) || targets.some(({ token }) => token !== undefined);
}

/**
 * The Secret that pods mount: copies of the tokens, because a pod mounts no Secret of another namespace, and the token with
 * which the API server authenticates to the fan-out.
 * @param createToken makes a token that cannot be guessed
 */
export async function auditSecret(
  scope: ControlPlaneContext,
  read: ReadSecret,
  createToken: () => string,
): Promise<AuditSecretState> {
  const { cluster, reader } = scope;
  const { auditTokens: name } = namesOf(cluster.name);
  const present = reader.get<SecretObject>(Secret, name);
  const targets = auditTargets(cluster);
  const found = await Promise.all(
    targets
      .filter(({ token }) => token !== undefined)
      .map(async (target) => ({
        key: tokenKeyOf(target),
        ...(isOwn(target, cluster) ? ownName(name) : await findToken(target, cluster.namespace, read)),
      })),
  );
  const problems = found.flatMap((one) => ('problem' in one ? [one.problem] : []));
  const tokens = found.map((one) => [one.key, 'token' in one ? one.token : valueOf(present, one.key)] as const);
  const known = tokens.filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
  if (known.length < tokens.length) return { secret: undefined, problems };
  const token = valueOf(present, fanOutTokenKey) ?? createToken();
  const own = usesFanOut(targets) ? { [fanOutTokenKey]: token, [fanOutKubeconfigKey]: fanOutKubeconfig(token) } : {};
  const values = { ...own, ...Object.fromEntries(known) };
  const secret = ownSecret(secretProps(scope, name), 'Opaque', values);
  // The API servers of the spec before mount their own keys until they are replaced.
  const kept = Object.entries(present?.data ?? {}).filter(([key]) => isMounted(scope, key));
  return { secret: { ...secret, data: { ...Object.fromEntries(kept), ...encodedData(values) } }, problems };
}

/** Deletes the Secret when no API server mounts it any more. */
export async function deleteAuditSecret(scope: ControlPlaneContext): Promise<void> {
  const secret = scope.reader.get<SecretObject>(Secret, namesOf(scope.cluster.name).auditTokens);
  const keys = Object.keys(secret?.data ?? {});
  if (secret && !keys.some((key) => isMounted(scope, key))) await scope.writer.delete(Secret, secret);
}

function isOwn({ token }: AuditTarget, { name, namespace }: HostedCluster): boolean {
  return token?.namespace === namespace && token.name === namesOf(name).auditTokens;
}

function ownName(name: string): FoundToken {
  return { problem: `the operator keeps its copies of tokens in Secret ${name}: give your Secret another name` };
}

/** Whether the Deployment of the API servers mounts this key of the Secret. */
function isMounted({ cluster, reader }: ControlPlaneContext, key: string): boolean {
  const deployment = reader.get(Deployment, namesOf(cluster.name).apiServer);
  return JSON.stringify(deployment ?? {}).includes(`"key":${JSON.stringify(key)}`);
}

/** A Secret of any namespace, read from the API server; undefined if it does not exist. */
type ReadSecret = (name: { readonly namespace: string; readonly name: string }) => Promise<SecretObject | undefined>;

/** The token of a receiver, or why there is none, as a sentence for the user without any value. */
type FoundToken = { readonly token: string } | { readonly problem: string };

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

/** What a Secret lets the operator do with its token. */
interface ReceiverGrant {
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
function receiverOf(url: string): string {
  return new URL(url).host;
}
