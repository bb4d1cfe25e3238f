import { Yaml } from 'cdk8s';
import { ports } from '../../../cluster/ports.ts';
import type { AuditTarget } from './targets.ts';

/**
 * The kubeconfig for the fan-out, whose traffic does not leave the pod. It holds the token as a password: client-go sends
 * bearer tokens over TLS only.
 */
export function fanOutKubeconfig(token: string): string {
  const server = `http://audit:${token}@127.0.0.1:${ports.audit}`;
  return webhookKubeconfig({ server, certificateAuthority: undefined }, undefined);
}

/**
 * The kubeconfig with which the API server reaches a receiver of audit records.
 * @param tokenFile file of the bearer token, which client-go reads again every minute; none is sent when undefined
 */
export function webhookKubeconfig(
  { server, certificateAuthority }: Pick<AuditTarget, 'server' | 'certificateAuthority'>,
  tokenFile: string | undefined,
): string {
  const name = 'audit';
  const data = certificateAuthority && Buffer.from(certificateAuthority).toString('base64');
  const caData = data ? { 'certificate-authority-data': data } : {};
  return Yaml.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, ...caData } }],
    users: [{ name, user: tokenFile ? { tokenFile } : {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}
