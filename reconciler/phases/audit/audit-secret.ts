import type { SecretObject } from '../../../imports/kubernetes.ts';
import { Deployment, Secret } from '../../../constructs/api/resources.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import {
  type AuditTarget,
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
import { findToken, type FoundToken, type ReadSecret } from './tokens.ts';

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
