import { request } from 'node:https';
import type { KeyPair } from '../../../reconciler/pki/issue.ts';

export interface TargetServer {
  readonly host: string;
  readonly port: number;
  /** The name it is verified by. @default the host */
  readonly serverName?: string;
  readonly path: string;
}

/**
 * Sends a server a request that only its clients may send, with a client certificate: the status of its answer, or that
 * it closes the connection instead.
 * @param certificateAuthority PEM of the CA certificates that verify the server
 */
export function requestTo(
  { serverName, ...server }: TargetServer,
  certificateAuthority: string,
): (client: KeyPair) => Promise<number | 'refused' | undefined> {
  return ({ certificate, key }) =>
    new Promise((resolve, reject) => {
      const tls = { ca: certificateAuthority, cert: certificate, key, allowPartialTrustChain: true };
      const name = serverName === undefined ? {} : { servername: serverName };
      const sent = request({ ...server, ...tls, ...name, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const isRefused = error.code === 'ECONNRESET' || error.code?.startsWith('ERR_SSL_') === true;
        if (isRefused) resolve('refused');
        else reject(error);
      });
      sent.end();
    });
}
