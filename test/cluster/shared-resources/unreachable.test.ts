import { createServer, type LookupFunction, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { describeUnreachable } from '../../../reconciler/clusters/exposure/unreachable.ts';
import { freePort } from '../../support/free-port.ts';

const host = 'c1.team.clusters.example.org';
const validity = validFor(60 * 60_000, new Date());
const servers: Server[] = [];
const sockets: Socket[] = [];

let certificateAuthority: KeyPair;
let otherCA: KeyPair;
beforeAll(async () => {
  certificateAuthority = await createCA({ commonName: 'kubernetes' }, validity);
  otherCA = await createCA({ commonName: 'somebody-else' }, validity);
});
afterEach(async () => {
  // A server ends with its last connection.
  for (const socket of sockets.splice(0)) socket.destroy();
  const ends = servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve)));
  await Promise.all(ends);
});

/** Resolves one host to the given address. */
const local: LookupFunction = (name, options, callback) => {
  const found = name === host ? [{ address: '127.0.0.1', family: 4 }] : [];
  if (options.all) callback(null, found);
  else callback(null, '127.0.0.1', 4);
};
const nowhere: LookupFunction = (name, _, callback) => {
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []);
};

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket) => sockets.push(socket));
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return port;
}

async function serveTls(signer: KeyPair, names: readonly string[]): Promise<number> {
  const identity = { commonName: 'server', organizations: [], usages: ['server'], hosts: [...names] } as const;
  const { certificate: cert, key } = await issueCertificate(identity, signer, validity);
  return listen(createTlsServer({ cert, key, ALPNProtocols: ['http/1.1'] }, (socket) => answerUnready(socket)));
}

function answerUnready(socket: Socket): void {
  const body = '[-]etcd failed';
  socket.once('data', () =>
    socket.end(
      `HTTP/1.1 500 Internal Server Error\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    ),
  );
}

/** The message about an attempt to reach the control plane's API server there. */
async function attempt(port: number, lookup = local): Promise<string> {
  const connection = connectionFor({ server: `https://${host}:${port}`, ca: certificateAuthority.certificate, lookup });
  try {
    await new KubeClient(connection, { deadlineMs: 2_000 }).raw('/readyz');
    return 'reached';
  } catch (error) {
    return describeUnreachable(error, { endpoint: { host, port } });
  } finally {
    await connection.close();
  }
}

it('a name that does not resolve is reported as that', async () => {
  expect(await attempt(443, nowhere)).toContain(`host ${host} does not resolve (ENOTFOUND): create a DNS record`);
});

it('an address where nothing listens is reported as that', async () => {
  const port = await freePort();
  expect(await attempt(port)).toBe(
    `no server listens at ${host}:${port} (ECONNREFUSED): check the load balancer, gateway or ingress controller at this address`,
  );
});

it('a proxy that closes the connection because it has no route for the name is reported as that', async () => {
  const closing = await listen(createServer((socket) => socket.end()));
  expect(await attempt(closing)).toContain('was closed without an answer');
  const resetting = await listen(createServer((socket) => socket.resetAndDestroy()));
  expect(await attempt(resetting)).toContain('was closed without an answer');
});

it('the server of another cluster is reported as that', async () => {
  expect(await attempt(await serveTls(otherCA, [host]))).toContain('another server answers');
});

it('a server of this cluster with another name is reported as that', async () => {
  const port = await serveTls(certificateAuthority, ['c2.team.clusters.example.org']);
  expect(await attempt(port)).toContain('has a certificate for other names');
});

it('an API server that is not ready is reported as that', async () => {
  expect(await attempt(await serveTls(certificateAuthority, [host]))).toContain('answers, but is not ready');
});

it('a proxy that does not answer is reported as that', async () => {
  expect(await attempt(await listen(createServer()))).toContain('did not answer within 2000 ms');
});
