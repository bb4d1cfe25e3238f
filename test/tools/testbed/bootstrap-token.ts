import { randomInt } from 'node:crypto';
import { ConfigMap, Secret } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { until } from './progress.ts';

/** The token that a machine without a certificate joins with: `id.secret`. The id is not secret. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

interface ClusterInfo extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Longer than any join takes; the hosted cluster's own token cleaner removes it afterwards. */
const lifetimeMs = 3_600_000;

/** Creates a token in a hosted cluster, as `kubeadm token create` does. */
export async function createBootstrapToken(client: KubeClient): Promise<BootstrapToken> {
  const token = { id: randomText(6), secret: randomText(16) };
  const values = {
    'token-id': token.id,
    'token-secret': token.secret,
    expiration: new Date(Date.now() + lifetimeMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
    'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
  };
  const secret = {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: { namespace: 'kube-system', name: `bootstrap-token-${token.id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: values,
  };
  await client.create(secret, { fieldManager: 'testbed' });
  return token;
}

/**
 * Ends when cluster-info is signed with the token. A kubeadm that starts earlier finds no signature and retries only
 * after five seconds.
 */
export async function untilSigned(client: KubeClient, { id }: BootstrapToken): Promise<void> {
  const what =
    'the signature in ConfigMap kube-public/cluster-info of the hosted cluster, which joining machines verify';
  await until({ what, timeoutMs: 60_000, intervalMs: 20 }, async () => {
    const info = await client.get<ClusterInfo>(ConfigMap, { namespace: 'kube-public', name: 'cluster-info' });
    return info.data?.[`jws-kubeconfig-${id}`] !== undefined;
  });
}

function randomText(length: number): string {
  const characters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join('');
}
