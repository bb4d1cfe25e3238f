import type { LookupFunction } from 'node:net';
import { parse } from 'yaml';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { connectionFor, type ConnectionTarget } from '../../reconciler/kube/config.ts';

/**
 * A client from the text of a kubeconfig in the format that the operator writes.
 * @param at another address of an API server, and the name in its certificate
 */
export function hostedClient(
  kubeconfig: string,
  lookup?: LookupFunction,
  at?: Pick<ConnectionTarget, 'server' | 'serverName'>,
): KubeClient {
  const { clusters, users } = parse(kubeconfig) as {
    clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
    users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
  };
  const text = (base64: string) => Buffer.from(base64, 'base64').toString('utf8');
  return new KubeClient(
    connectionFor({
      server: clusters[0].cluster.server,
      ...at,
      ca: text(clusters[0].cluster['certificate-authority-data']),
      cert: text(users[0].user['client-certificate-data']),
      key: text(users[0].user['client-key-data']),
      lookup,
    }),
    // Long enough for a busy machine, and short enough to retry when the API server has just been replaced.
    { deadlineMs: 15_000 },
  );
}
