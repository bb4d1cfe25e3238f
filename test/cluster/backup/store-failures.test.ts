import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import type { StoreFailure } from '../../../reconciler/backup/store/store-error.ts';
import type { StoreSettings } from '../../../reconciler/backup/store/store-settings.ts';
import { createCA, validFor } from '../../../reconciler/pki/issue.ts';
import { freePort } from '../../support/free-port.ts';
import { startS3, type S3 } from '../../support/s3.ts';

let s3: S3;
let plain: S3;
let silent: Server;
const sockets = new Set<Socket>();
beforeAll(async () => {
  [s3, plain] = await Promise.all([startS3('tls'), startS3()]);
  silent = createServer((socket) => sockets.add(socket));
  await listen(silent);
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  await Promise.all([s3.stop(), plain.stop()]);
});

const secret = 'wrong-secret-of-the-store';
const signedBy = (accessKeyId: string): StoreSettings['credentials'] => ({
  kind: 'static',
  accessKeyId,
  secretAccessKey: secret,
});

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const otherCA = async (): Promise<string> =>
  (await createCA({ commonName: 'other' }, validFor(3_600_000, new Date()))).certificate;

async function* large(): AsyncGenerator<Buffer> {
  for (let count = 0; count < 12; count += 1) yield Buffer.alloc(1 << 20);
}

/** The error of each operation on a store. */
async function failures(
  settings: StoreSettings,
  stallMs = 30_000,
): Promise<{ message: string; reason: StoreFailure }[]> {
  const store = new ObjectStore(settings, { stallMs });
  const read = async (): Promise<never> => {
    for await (const chunk of store.get('team/prod/x.json')) throw new Error(`${chunk.length} bytes came`);
    throw new Error('nothing came');
  };
  const results = await Promise.allSettled([
    store.put('team/prod/x.db', large()),
    store.putText('team/prod/x.json', '{}'),
    store.list('team/prod/'),
    store.reach('team/prod/'),
    read(),
    store.delete('team/prod/x.json'),
  ]);
  store.close();
  return results.map((result) => {
    if (result.status === 'fulfilled') throw new Error('a request did not fail');
    return result.reason as { message: string; reason: StoreFailure };
  });
}

describe('every use of a store', () => {
  it.each<[string, StoreFailure, string, () => Promise<Partial<StoreSettings>>]>([
    [
      'with a wrong secret key',
      'CredentialsRefused',
      'does not accept the credentials (SignatureDoesNotMatch): correct them in the Secret',
      async () => ({ credentials: signedBy('test-key-id') }),
    ],
    [
      'with an unknown key id',
      'CredentialsRefused',
      'does not accept the credentials (InvalidAccessKeyId)',
      async () => ({ credentials: signedBy('unknown') }),
    ],
    [
      'of an unknown bucket',
      'BucketNotFound',
      'the bucket does not exist: create it',
      async () => ({ bucket: 'nowhere' }),
    ],
    ['of another region', 'WrongRegion', 'is not in region eu-central-1', async () => ({ region: 'eu-central-1' })],
    [
      'without its CA',
      'CertificateNotTrusted',
      'put the right CA certificate into ca.crt of the Secret',
      async () => ({ certificateAuthority: undefined }),
    ],
    [
      'with another CA',
      'CertificateNotTrusted',
      'put the right CA certificate into ca.crt of the Secret',
      async () => ({ certificateAuthority: await otherCA() }),
    ],
    [
      'that does not speak TLS',
      'CertificateNotTrusted',
      'write http:// before the host',
      async () => ({ endpoint: plain.settings.endpoint?.replace('http:', 'https:') }),
    ],
    [
      'that does not listen',
      'Unreachable',
      'cannot be reached (ECONNREFUSED): correct the host in the Secret',
      async () => ({ endpoint: `https://127.0.0.1:${await freePort()}` }),
    ],
    [
      'whose name cannot be resolved',
      'Unreachable',
      'cannot be reached (E',
      async () => ({ endpoint: 'https://s3.does-not-exist.invalid' }),
    ],
    [
      'that accepts the connection and is silent',
      'Stalled',
      'did not respond in time',
      async () => ({ endpoint: urlOf(silent) }),
    ],
    [
      'that is silent during the TLS handshake',
      'Stalled',
      'did not respond in time',
      async () => ({ endpoint: urlOf(silent).replace('http:', 'https:') }),
    ],
  ])('%s fails as %s', async (_, reason, words, change) => {
    const settings = { ...s3.settings, ...(await change()) };
    const found = await failures(settings, reason === 'Stalled' ? 500 : undefined);
    expect(found.map((error) => error.reason)).toEqual(Array(6).fill(reason));
    for (const { message } of found) {
      expect(message).toContain(words);
      expect(message).toContain(`bucket ${settings.bucket} at ${settings.endpoint}`);
      expect(message).not.toContain(secret);
    }
  });

  it('that stops sending during an object fails as Stalled, after the data received', async () => {
    const half = createServer((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf'));
      sockets.add(socket);
    });
    await listen(half);
    const store = new ObjectStore({ ...s3.settings, endpoint: urlOf(half) }, { stallMs: 500 });
    await expect(store.getText('team/prod/x.json')).rejects.toMatchObject({ reason: 'Stalled' });
    store.close();
    half.close();
  });

  it('that closes the connection during an object fails as Unreachable', async () => {
    const half = createServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf'));
    });
    await listen(half);
    const store = new ObjectStore({ ...s3.settings, endpoint: urlOf(half) }, { stallMs: 5_000 });
    await expect(store.getText('team/prod/x.json')).rejects.toMatchObject({ reason: 'Unreachable' });
    store.close();
    half.close();
  });

  it('works again with the next settings', async () => {
    const store = new ObjectStore(s3.settings);
    await store.putText('team/prod/x.json', '{}');
    expect(await store.list('team/')).toEqual(['team/prod/x.json']);
    store.close();
  });
});

describe('a store used with a web identity', () => {
  const settingsWith = (tokenService: string): StoreSettings => ({
    ...s3.settings,
    credentials: {
      kind: 'webIdentity',
      roleArn: 'arn:aws:iam::1:role/backup',
      tokenService,
      token: async () => 'token',
    },
  });

  it('uses the credentials of the role, requested once for many requests', async () => {
    let exchanges = 0;
    const grant = createServer((socket) => {
      socket.once('data', () => {
        exchanges += 1;
        const expiration = new Date(Date.now() + 3_600_000).toISOString();
        const credentials = `<AccessKeyId>test-key-id</AccessKeyId><SecretAccessKey>test-secret-of-the-store</SecretAccessKey><Expiration>${expiration}</Expiration>`;
        const body = `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>${credentials}</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      });
    });
    await listen(grant);
    const store = new ObjectStore({ ...settingsWith(urlOf(grant)), endpoint: plain.settings.endpoint });
    await store.put('role/x.db', large());
    expect(await store.list('role/')).toEqual(['role/x.db']);
    expect(exchanges).toBe(1);
    store.close();
    grant.close();
  });

  it('reports that the role was refused', async () => {
    const refuse = createServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'));
    });
    await listen(refuse);
    const found = await failures(settingsWith(urlOf(refuse)));
    for (const error of found)
      expect(error.message).toContain('refused with HTTP 403: configure the role to trust the issuer');
    expect(found.map(({ reason }) => reason)).toEqual(Array(6).fill('CredentialsRefused'));
    refuse.close();
  });
});
