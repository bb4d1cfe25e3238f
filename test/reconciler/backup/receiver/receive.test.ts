import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EtcdCredentials } from '../../../../reconciler/etcd/etcd3-client.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { messageOf } from '../../../../reconciler/kube/error-message.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../../../reconciler/pki/issue.ts';
import { createSigningRequest } from '../../../../reconciler/pki/signing-request.ts';
import { createKey } from '../../../../reconciler/pki/key.ts';
import { receive, type Receiving } from '../../../../reconciler/backup/receiver/receive.ts';
import { pushSnapshot } from '../../../../reconciler/backup/receiver/push.ts';
import { SigningIssuer } from '../../../support/issuer.ts';

const run = '2026-11-21T12-00-00Z-abc';
const serverName = 'c1-etcd-0.e-c1-etcd.team.svc';
const snapshot = randomBytes(3_000_000);
const sha256 = createHash('sha256').update(snapshot).digest('hex');
const validity = validFor(60 * 60_000, new Date());

let volume: string;
let certificateAuthority: KeyPair;
let credentials: EtcdCredentials;
let server: EtcdCredentials;
let receiving: Receiving | undefined;

async function signedBy(signer: KeyPair, usages: readonly ('client' | 'server')[]): Promise<EtcdCredentials> {
  const plan = { commonName: 'test', organizations: [], usages, hosts: [serverName] };
  const { certificate, key } = await issueCertificate(plan, signer, validity);
  return { ca: certificateAuthority.certificate, cert: certificate, key };
}

beforeAll(async () => {
  certificateAuthority = await createCA({ commonName: 'etcd' }, validity);
  credentials = await signedBy(certificateAuthority, ['client']);
  server = await signedBy(certificateAuthority, ['server', 'client']);
});
beforeEach(async () => {
  volume = await mkdtemp(join(tmpdir(), 'receive-'));
});
afterEach(async () => {
  receiving?.close();
  receiving = undefined;
  await rm(volume, { recursive: true });
});

interface ListenChanges {
  readonly sizeBytes?: number;
  readonly run?: string;
  readonly tls?: EtcdCredentials;
}

async function listen(changes: ListenChanges = {}): Promise<Receiving> {
  const expected = { sha256, sizeBytes: changes.sizeBytes ?? snapshot.length };
  receiving = await receive({ volume, run: changes.run ?? run, expected, port: 0, tls: changes.tls ?? server });
  return receiving;
}

async function* chunks(content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += 65_536) yield content.subarray(at, at + 65_536);
}

async function push(
  content: AsyncIterable<Uint8Array>,
  options: { readonly credentials?: EtcdCredentials; readonly serverName?: string; readonly sizeBytes?: number } = {},
): Promise<void> {
  const receiver = { address: '127.0.0.1', port: receiving?.port ?? 0, serverName: options.serverName ?? serverName };
  const { signal } = new AbortController();
  await pushSnapshot(receiver, content, {
    credentials: options.credentials ?? credentials,
    sizeBytes: options.sizeBytes ?? snapshot.length,
    clock: systemClock,
    signal,
  });
}

const failureOf = (attempt: Promise<void>) => attempt.then(() => 'it worked', messageOf);
const incoming = () => readdir(join(volume, 'incoming', run));

describe('the receiver in a restore pod', () => {
  it('keeps a snapshot with the right size and hash, and ends', async () => {
    const { received } = await listen();
    await push(chunks(snapshot));
    await received;
    expect(await readFile(join(volume, 'incoming', run, 'snapshot.db'))).toEqual(snapshot);
    expect(await incoming()).toEqual(['snapshot.db']);
  });

  it('ends at once if it is started again after that', async () => {
    const { received } = await listen();
    await push(chunks(snapshot));
    await received;
    await mkdir(join(volume, 'incoming', run, 'data'));
    const restarted = await listen();
    await restarted.received;
    expect(restarted.port).toBeUndefined();
    // left by a killed etcdutl, which would refuse to continue
    expect(await incoming()).toEqual(['snapshot.db']);
  });

  it('rejects clients without a certificate of its CA', async () => {
    await listen();
    const other = await createCA({ commonName: 'other' }, validity);
    const unrelated = await signedBy(other, ['client']);
    expect(await failureOf(push(chunks(snapshot), { credentials: unrelated }))).toMatch(/unknown ca|reset|alert/i);
    const anonymous = { ca: certificateAuthority.certificate, cert: '', key: '' };
    expect(await failureOf(push(chunks(snapshot), { credentials: anonymous }))).toMatch(
      /certificate required|reset|alert/i,
    );
    expect(await incoming()).toEqual([]);
  });

  it('works with a CA that an issuer has signed, and rejects other clients of that issuer', async () => {
    const issuer = await SigningIssuer.create(new Date());
    const key = createKey();
    const issued = await issuer.sign(await createSigningRequest({ commonName: 'etcd' }, key), { now: new Date() });
    const by = async (signer: KeyPair) => ({ ...(await signedBy(signer, ['server', 'client'])), ca: issued });
    const own = await by({ certificate: issued, key });
    const { received } = await listen({ tls: own });
    const unrelated = await by(issuer.root);
    expect(await failureOf(push(chunks(snapshot), { credentials: unrelated }))).toMatch(/unknown ca|reset|alert/i);
    await push(chunks(snapshot), { credentials: own });
    await received;
    expect(await incoming()).toEqual(['snapshot.db']);
  });

  it('gets nothing if its certificate is that of another member', async () => {
    await listen();
    const serverName = 'c1-etcd-1.e-c1-etcd.team.svc';
    expect(await failureOf(push(chunks(snapshot), { serverName }))).toContain("does not match certificate's altnames");
    expect(await incoming()).toEqual([]);
  });

  it('discards an interrupted upload, and accepts the next one', async () => {
    const { received } = await listen();
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield snapshot.subarray(0, 1_000_000);
      throw new Error('the store is gone');
    }
    expect(await failureOf(push(failing()))).toContain('the store is gone');
    await push(chunks(snapshot));
    await received;
    expect(await incoming()).toEqual(['snapshot.db']);
  });

  it('refuses content with another hash, and accepts the next one', async () => {
    const { received } = await listen();
    const flipped = Buffer.from(snapshot);
    flipped[1_500_000]! ^= 1;
    expect(await failureOf(push(chunks(flipped)))).toMatch(
      /refused it with status 422: the hash is [0-9a-f]{64} instead of/,
    );
    expect(await incoming()).toEqual([]);
    await push(chunks(snapshot));
    await received;
  });

  it('refuses another size before anything is sent', async () => {
    await listen();
    const shorter = snapshot.subarray(0, 100);
    expect(await failureOf(push(chunks(shorter), { sizeBytes: 100 }))).toContain(
      'content-length is 100, but the snapshot has 3000000 bytes',
    );
  });

  it('does not wait for a silent sender when another one connects', async () => {
    const { received, port } = await listen();
    const silent = request({
      ...credentials,
      host: '127.0.0.1',
      port,
      servername: serverName,
      method: 'PUT',
      path: '/snapshot',
      headers: { 'content-length': snapshot.length },
    });
    const cut = new Promise((resolve) => silent.once('error', resolve));
    await new Promise<void>((resolve) => silent.write(snapshot.subarray(0, 1000), () => resolve()));
    await push(chunks(snapshot));
    await Promise.all([received, cut]);
    expect(await readFile(join(volume, 'incoming', run, 'snapshot.db'))).toEqual(snapshot);
  });

  it('removes leftovers of earlier runs, and all but the newest data that was set aside', async () => {
    await mkdir(join(volume, 'incoming', 'earlier'), { recursive: true });
    for (const old of ['a', 'b', 'c']) await mkdir(join(volume, 'set-aside', old, 'data'), { recursive: true });
    await writeFile(join(volume, 'set-aside', 'c', 'data', 'kept'), '');
    await listen();
    expect(await readdir(join(volume, 'incoming'))).toEqual([run]);
    expect(await readdir(join(volume, 'set-aside'))).toEqual(['c']);
  });

  it('reports how much space is missing if the snapshot does not fit', async () => {
    const failure = await listen({ sizeBytes: 2 ** 52 }).then(() => 'it worked', messageOf);
    expect(failure).toMatch(/the volume has \d+ MiB free, but the restore needs \d+ MiB .*: expand the volume/);
  });
});
