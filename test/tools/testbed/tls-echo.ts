import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { AddressInfo, LookupFunction } from 'node:net';
import { z } from 'zod';
import { createCA, issueCertificate, validFor, type KeyPair } from '../../../reconciler/pki/issue.ts';

/** What the server received from a client: the requested name and its certificate. */
const Seen = z.object({ serverName: z.string(), client: z.string() });
export type Seen = z.infer<typeof Seen>;

/** A server behind the gateway and its client. */
export interface TlsEcho {
  readonly port: number;
  /**
   * Connects to port 443 of a host, with the client's certificate; returns what the server received. Throws without an answer.
   */
  ask(host: string, lookup: LookupFunction): Promise<Seen>;
  close(): Promise<void>;
}

/**
 * A TLS server on all addresses of this host, which requires a client certificate and returns its name; and the client.
 * They trust only each other: an answer proves that no proxy has terminated TLS.
 */
export async function startTlsEcho(domain: string): Promise<TlsEcho> {
  const validity = validFor(3_600_000, new Date());
  const certificateAuthority = await createCA({ commonName: 'echo' }, validity);
  const issue = (commonName: string, usage: 'server' | 'client', hosts: string[]): Promise<KeyPair> =>
    issueCertificate({ commonName, organizations: [], usages: [usage], hosts }, certificateAuthority, validity);
  const [serving, client] = await Promise.all([
    issue('server', 'server', [`*.${domain}`]),
    issue('the client', 'client', []),
  ]);
  const ca = certificateAuthority.certificate;
  const server = createServer({ ...pem(serving), ca, requestCert: true }, (socket) => {
    socket.on('error', () => {});
    socket.end(JSON.stringify({ serverName: socket.servername, client: socket.getPeerCertificate().subject.CN }));
  });
  server.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    ask: (host, lookup) => answerOf(connect({ host, servername: host, port: 443, lookup, ca, ...pem(client) })),
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

async function answerOf(socket: TLSSocket): Promise<Seen> {
  socket.setTimeout(3_000, () => socket.destroy(new Error('no answer within 3 s')));
  const chunks: string[] = [];
  for await (const chunk of socket.setEncoding('utf8')) chunks.push(String(chunk));
  if (chunks.length === 0) throw new Error('closed without an answer');
  return Seen.parse(JSON.parse(chunks.join('')));
}

function pem({ certificate, key }: KeyPair): { cert: string; key: string } {
  return { cert: certificate, key };
}
