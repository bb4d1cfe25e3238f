import { once } from 'node:events';
import { connect, type PeerCertificate } from 'node:tls';

/** The certificate that is served for this host. It is not verified. */
export async function servedCertificate(address: string, host: string): Promise<PeerCertificate> {
  const socket = connect({ host: address, port: 443, servername: host, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(60_000) });
    return socket.getPeerCertificate();
  } finally {
    socket.destroy();
  }
}
