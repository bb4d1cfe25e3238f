import { request } from 'node:https';
import type { KeyPair } from '../../../reconciler/pki/issue.ts';

/**
 * Asks an API server for something that only its users may see, by a client certificate; the answer is the status.
 * @param authority PEM of what the API server is verified by
 */
export function strangerAt(
  { host, port }: { readonly host: string; readonly port: number },
  authority: string,
): (client: KeyPair) => Promise<number | undefined> {
  return ({ certificate, key }) =>
    new Promise((resolve, reject) => {
      const tls = { ca: authority, cert: certificate, key, allowPartialTrustChain: true };
      const asked = request({ host, port, path: '/api/v1/nodes', agent: false, ...tls }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on('error', reject);
      asked.end();
    });
}
