import { afterEach, expect, it } from 'vitest';
import { MemberClient } from '../../../reconciler/etcd/client.ts';
import { createCA, validFor } from '../../../reconciler/pki/issue.ts';
import { type Http2Server, startHttp2Server } from '../../support/http2-server.ts';

/** The longest message that gRPC reads by default. */
const megabytes = 4 << 20;

let server: Http2Server;
let member: MemberClient;
afterEach(async () => {
  member.close();
  await server.stop();
});

/** A client of a member that answers each call with this message. */
async function memberThatAnswers(message: Buffer): Promise<MemberClient> {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  server = await startHttp2Server((stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.concat([prefix, message]));
  });
  const own = await createCA({ commonName: 'client' }, validFor(3_600_000, new Date()));
  const endpoint = { name: 'c1-etcd-0', address: `127.0.0.1:${server.port}`, serverName: '127.0.0.1' };
  member = new MemberClient(endpoint, { ca: String(server.target.ca), cert: own.certificate, key: own.key });
  return member;
}

/** So many empty messages in field 2, in which both lists of members and ranges of keys have theirs. */
function emptyOnes(bytes: number): Buffer {
  return Buffer.alloc(bytes, Buffer.from([0x12, 0]));
}

// Two bytes become an object of some hundred: the operator of a fleet had no memory left.
it.each([
  ['members', (client: MemberClient) => client.members('own')],
  ['first keys of resources', (client: MemberClient) => client.keyCounts(1)],
])('an answer with two million %s is not read', async (_, ask) => {
  const client = await memberThatAnswers(emptyOnes(megabytes - 2));
  await expect(ask(client)).rejects.toThrow('at etcd member c1-etcd-0 failed: the answer is longer than any of etcd');
});

it('an answer as long as those of etcd is read', async () => {
  const client = await memberThatAnswers(emptyOnes(1_000));
  await expect(client.members('own')).resolves.toHaveLength(500);
});

it('pages of keys may be longer', async () => {
  const client = await memberThatAnswers(emptyOnes(100_000));
  await expect(client.keys(1).next()).resolves.toMatchObject({ done: false });
});
