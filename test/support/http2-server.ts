import {
  createSecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { ConnectionTarget } from '../../reconciler/kube/config.ts';
import { createCA, issueCertificate, validFor } from '../../reconciler/pki/issue.ts';

/** Answers one request, or never. */
export type AnswerStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** An HTTP/2 server on a loopback port that answers as a test wants, such as without end. */
export interface Http2Server {
  readonly target: ConnectionTarget;
  readonly port: number;
  /** Every request, in order of arrival. */
  readonly requests: readonly { readonly path: string; readonly stream: ServerHttp2Stream }[];
  /** Number of connections that it has accepted. */
  readonly accepted: number;
  stop(): Promise<void>;
}

export async function startHttp2Server(answer: AnswerStream, settings: Settings = {}): Promise<Http2Server> {
  const validity = validFor(3_600_000, new Date());
  const certificateAuthority = await createCA({ commonName: 'test' }, validity);
  const plan = { commonName: 'server', organizations: [], usages: ['server'], hosts: ['127.0.0.1'] } as const;
  const { certificate: cert, key } = await issueCertificate(plan, certificateAuthority, validity);
  const requests: { path: string; stream: ServerHttp2Stream }[] = [];
  const sessions = new Set<Http2Session>();
  const sockets = new Set<Socket>();
  let accepted = 0;
  const server = createSecureServer({ cert, key, settings });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('session', (session) => {
    accepted += 1;
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => {});
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    requests.push({ path: headers[':path'] ?? '', stream });
    stream.on('error', () => {});
    answer(stream, headers);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    target: { server: `https://127.0.0.1:${port}`, ca: certificateAuthority.certificate },
    port,
    requests,
    get accepted() {
      return accepted;
    },
    stop: async () => {
      for (const session of sessions) session.destroy();
      // One that has ended may still have what its client does not read any more.
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with this JSON. */
export function sendJson(stream: ServerHttp2Stream, value: object): void {
  stream.respond({ ':status': 200, 'content-type': 'application/json' });
  stream.end(JSON.stringify(value));
}
