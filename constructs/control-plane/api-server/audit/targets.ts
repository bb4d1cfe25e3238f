import { createHash } from 'node:crypto';
import type { HostedCluster } from '../../../cluster/cluster.ts';

/** Where a receiver's token is. */
export interface TokenSource {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** One receiver of audit records. */
export interface AuditTarget {
  /** Derives from everything else. A pod of an earlier spec can therefore never send a token to another receiver. */
  readonly id: string;
  readonly server: string;
  /** PEM; the roots of the sending image when missing. */
  readonly certificateAuthority: string | undefined;
  /** Missing when no token is sent. */
  readonly token: TokenSource | undefined;
}

/** The receivers of a control plane, each once, in an order that does not depend on that of the spec. */
export function auditTargets({ namespace, spec }: Pick<HostedCluster, 'namespace' | 'spec'>): AuditTarget[] {
  const targets = (spec.deployment.apiServer.audit?.webhook?.targets ?? []).map(
    ({ server, certificateAuthority, authentication }) => {
      const token = authentication && {
        namespace: authentication.secretNamespace ?? namespace,
        name: authentication.secretName,
        key: authentication.tokenKey,
      };
      return { id: idOf([server, certificateAuthority, token]), server, certificateAuthority, token };
    },
  );
  const unique = new Map(targets.map((target) => [target.id, target]));
  return [...unique.values()].sort((a, b) => (a.server + a.id < b.server + b.id ? -1 : 1));
}

/** Whether the receivers are served by the fan-out beside the API server, which itself sends to one receiver only. */
export function usesFanOut(targets: readonly AuditTarget[]): boolean {
  return targets.length > 1;
}

/** Key of a receiver's token in the Secret that the pods mount. */
export function tokenKeyOf({ id }: AuditTarget): string {
  return `token-${id}`;
}

/** Key of the token with which the API server authenticates to the fan-out, in the same Secret. */
export const fanOutTokenKey = 'token';

/** Key of the kubeconfig with which the API server reaches the fan-out, in the same Secret. */
export const fanOutKubeconfigKey = 'webhook.yaml';

function idOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12);
}
