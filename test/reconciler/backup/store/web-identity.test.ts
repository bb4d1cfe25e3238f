import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { assumeRole, type SessionCredentials } from '../../../../reconciler/backup/store/web-identity.ts';
import { freePort } from '../../../support/free-port.ts';

let server: Server | undefined;
afterEach(() => server?.close());

/** A token service that gives one answer and records its requests. */
async function tokenService(
  status: number,
  answer: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ url: string; asked: URLSearchParams[] }> {
  const asked: URLSearchParams[] = [];
  const started = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      asked.push(new URLSearchParams(body));
      response.writeHead(status, { 'Content-Type': 'text/xml', ...headers }).end(answer);
    });
  });
  server = started;
  await new Promise<void>((resolve) => {
    started.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(started.address() as AddressInfo).port}`, asked };
}

function assume(url: string, limitMs?: number): Promise<SessionCredentials> {
  const credentials = {
    kind: 'webIdentity',
    roleArn: 'arn:aws:iam::1:role/backup',
    tokenService: url,
    token: async () => 'header.secret-token.signature',
  } as const;
  const settings = { region: 'eu-central-1', bucket: 'backups', prefix: '', credentials };
  return assumeRole(settings, credentials, undefined, limitMs);
}

const granted = `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
  <AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>key/+=</SecretAccessKey><SessionToken>session==</SessionToken>
  <Expiration>2026-11-21T10:15:31Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
const refused =
  '<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>secret-token</Message></Error></ErrorResponse>';

describe('a ServiceAccount token', () => {
  it('is exchanged for credentials of the role until they expire', async () => {
    const { url, asked } = await tokenService(200, granted);
    expect(await assume(url)).toEqual({
      accessKeyId: 'ASIA',
      secretAccessKey: 'key/+=',
      sessionToken: 'session==',
      expiration: new Date('2026-11-21T10:15:31Z'),
    });
    expect(Object.fromEntries(asked[0] ?? [])).toMatchObject({
      Action: 'AssumeRoleWithWebIdentity',
      RoleArn: 'arn:aws:iam::1:role/backup',
      WebIdentityToken: 'header.secret-token.signature',
    });
  });

  it.each([
    [
      'is refused',
      400,
      refused,
      'the token service refused with InvalidIdentityToken: configure the role to trust the issuer',
    ],
    ['is answered by a web page', 200, '<html>sign in</html>', 'the token service refused with HTTP 200'],
    [
      'is answered without an end',
      200,
      granted.replace(/<Expiration>.*<\/Expiration>/, ''),
      'the token service refused with HTTP 200',
    ],
    ['is answered without a key', 200, granted.replace('key/+=', ''), 'the token service refused with HTTP 200'],
  ])('that %s fails with a remedy, and without the token in the message', async (_, status, answer, words) => {
    const { url } = await tokenService(status, answer);
    const error = await assume(url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'CredentialsRefused' });
    expect(String(error)).toContain(`assume role arn:aws:iam::1:role/backup at ${url}: ${words}`);
    expect(String(error)).not.toContain('secret-token');
  });

  it('is not sent on to where the token service redirects', async () => {
    const other = await tokenService(200, granted);
    const elsewhere = server;
    const { url } = await tokenService(307, '', { Location: other.url });
    await expect(assume(url)).rejects.toThrow('the token service refused with HTTP 307');
    expect(other.asked).toEqual([]);
    elsewhere?.close();
  });

  it.each<[string, number, string, (socket: Socket) => void]>([
    ['ends its connection before the answer', 60_000, '', (socket) => socket.destroy()],
    [
      'ends its connection within the answer',
      60_000,
      'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n<A',
      (socket) => socket.destroy(),
    ],
    ['says nothing', 200, '', () => {}],
    ['says nothing after its headers', 200, 'HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n<A', () => {}],
  ])('fails as Unreachable when the token service %s', async (_, limitMs, text, then) => {
    const started = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(text, () => then(socket)));
    });
    await new Promise<void>((resolve) => {
      started.listen(0, '127.0.0.1', resolve);
    });
    const url = `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
    await expect(assume(url, limitMs)).rejects.toMatchObject({
      reason: 'Unreachable',
      message: expect.stringContaining('no response from the token service (Unreachable)') as unknown,
    });
    started.close();
  });

  it('fails as Unreachable when there is no token service', async () => {
    await expect(assume(`http://127.0.0.1:${await freePort()}`)).rejects.toMatchObject({
      reason: 'Unreachable',
      message: expect.stringContaining('no response from the token service (Unreachable)') as unknown,
    });
  });
});
