import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ObjectStore } from '../../../../reconciler/backup/store/object-store.ts';
import { proxyOf } from '../../../../reconciler/backup/store/proxy.ts';
import { assumeRole } from '../../../../reconciler/backup/store/web-identity.ts';
import { Destinations, insideSentence } from '../../../../reconciler/clusters/network/destinations.ts';
import { ObjectStoreServer, storeAt } from '../../../support/object-store-server.ts';

describe('the proxy of a URL', () => {
  const proxy = 'http://proxy.example.org:3128';
  const s3 = 'https://s3.example.com';

  it.each([
    ['none without variables', s3, {}, undefined],
    ['that of HTTPS_PROXY', s3, { HTTPS_PROXY: proxy, HTTP_PROXY: 'http://other' }, proxy],
    ['that in small letters', s3, { https_proxy: proxy }, proxy],
    ['that of HTTP_PROXY without TLS', 'http://s3.example.com', { HTTP_PROXY: proxy }, proxy],
    ['none with TLS for HTTP_PROXY alone', s3, { HTTP_PROXY: proxy }, undefined],
    ['one without a scheme', s3, { HTTPS_PROXY: 'proxy.example.org:3128' }, proxy],
    ['none on the loopback address', 'https://127.0.0.1:9000', { HTTPS_PROXY: proxy }, undefined],
    ['none on localhost', 'https://localhost', { HTTPS_PROXY: proxy }, undefined],
  ])('is %s', (_, url, environment, expected) => {
    expect(proxyOf(url, environment)).toBe(expected);
  });

  it.each([
    ['*', s3, true],
    ['s3.example.com', s3, true],
    ['S3.Example.com', s3, true],
    ['example.com', s3, true],
    ['.example.com', s3, true],
    ['*.example.com', s3, true],
    ['.s3.example.com', s3, false],
    ['ample.com', s3, false],
    ['other.org, example.com', s3, true],
    ['example.com:443', s3, true],
    ['example.com:8443', s3, false],
    ['example.com:8443', 'https://s3.example.com:8443', true],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/8', s3, false],
    ['10.1.2.3', 'https://10.1.2.3', true],
    ['10.1.2.3:9000', 'https://10.1.2.3:9000', true],
    ['10.1.2.3:9000', 'https://10.1.2.3', false],
    ['fd00::/8', 'https://[fd00::5]', true],
    ['fd00::5', 'https://[fd00:0::5]', true],
    ['[fd00::5]:443', 'https://[fd00::5]', true],
    ['[fd00::5]:9', 'https://[fd00::5]', false],
    ['s3.example.com', 'https://s3.example.com.', true],
    ['', s3, false],
  ])('NO_PROXY %j for %s: %s', (exceptions, url, isDirect) => {
    expect(proxyOf(url, { HTTPS_PROXY: proxy, NO_PROXY: exceptions })).toBe(isDirect ? undefined : proxy);
  });
});

it('a bucket that AWS has and whose name is no host name is no reason to fail before it is asked', () => {
  const { endpoint: _, ...settings } = storeAt('http://127.0.0.1');
  expect(() => new ObjectStore({ ...settings, bucket: 'my bucket' }).close()).not.toThrow();
});

describe('through a proxy', () => {
  /** What it was asked for. */
  const asked: string[] = [];
  let store: ObjectStoreServer;
  let server: Server;
  let proxy: string;
  const sockets = new Set<Socket>();
  const service = createServer((_, response) => void response.writeHead(403).end('<Code>AccessDenied</Code>'));

  beforeEach(async () => {
    asked.length = 0;
    store = await ObjectStoreServer.start();
    const { port } = new URL(store.settings.endpoint ?? '');
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    // It knows names that no resolver knows.
    server = createServer((given, response) => {
      const url = new URL(given.url ?? '');
      asked.push(`${given.method} ${url.host}`);
      const { method, headers } = given;
      const passed = request(
        { port, host: '127.0.0.1', path: `${url.pathname}${url.search}`, method, headers },
        (got) => got.pipe(response.writeHead(got.statusCode ?? 502, got.headers)),
      );
      given.pipe(passed);
    });
    server.on('connect', ({ url }, client: Socket) => {
      asked.push(`CONNECT ${url}`);
      if (url?.startsWith('refused')) return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      const target = connect((service.address() as AddressInfo).port, '127.0.0.1');
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(target).pipe(client);
      for (const socket of [client, target]) sockets.add(socket.on('error', () => {}));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy = `http://user:secret-word@127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    store.stop();
    for (const one of [service, server]) one.close();
  });

  const environment = () => ({ HTTP_PROXY: proxy, HTTPS_PROXY: proxy });

  it('a store is reached that no other way leads to', async () => {
    const opened = new ObjectStore({
      ...store.settings,
      endpoint: 'http://store.example.org',
      environment: environment(),
    });
    await opened.putText('a/manifest.json', '{}');
    expect(await opened.getText('a/manifest.json')).toBe('{}');
    opened.close();
    expect(asked).toEqual(['PUT store.example.org', 'GET store.example.org']);
  });

  it('a store that is an exception is not reached', async () => {
    const opened = new ObjectStore({
      ...store.settings,
      environment: { ...environment(), NO_PROXY: '127.0.0.0/8' },
    });
    await opened.putText('a/manifest.json', '{}');
    opened.close();
    expect(asked).toEqual([]);
  });

  it('a proxy is asked for no address that the operator may not connect to itself', async () => {
    const guarded = new Destinations({ denied: [], inside: () => [], apiServers: () => [], allowed: [] });
    const settings = { ...store.settings, endpoint: 'http://169.254.169.254', environment: environment() };
    const opened = new ObjectStore(settings, { destinations: guarded });
    const credentials = {
      kind: 'webIdentity',
      roleArn: 'arn:aws:iam::1:role/backup',
      tokenService: 'http://169.254.169.254',
      token: async () => 'token',
    } as const;
    const errors = await Promise.all([
      opened.putText('a', '{}').catch(String),
      assumeRole({ ...settings, credentials }, credentials, guarded.guard('store')).catch(String),
    ]);
    opened.close();
    for (const error of errors) expect(error).toContain(insideSentence);
    expect(asked).toEqual([]);
  });

  it('a connection with TLS that the proxy refuses is told, without the credentials of the proxy', async () => {
    const settings = { ...store.settings, endpoint: 'https://refused.example.org', environment: environment() };
    const opened = new ObjectStore(settings);
    const error = await opened.putText('a', '{}').catch((thrown: unknown) => thrown);
    opened.close();
    expect(error).toMatchObject({ reason: 'ProxyRefused' });
    expect(String(error)).toContain('name the host of the store in NO_PROXY');
    expect(String(error)).not.toContain('secret-word');
    expect(asked).toContain('CONNECT refused.example.org:443');
  });

  it('a token service is asked, and told as behind the proxy when it does not answer', async () => {
    const credentials = {
      kind: 'webIdentity',
      roleArn: 'arn:aws:iam::1:role/backup',
      tokenService: 'https://refused.example.org',
      token: async () => 'token',
    } as const;
    const settings = { ...store.settings, credentials, environment: environment() };
    const error = await assumeRole(settings, credentials).catch((thrown: unknown) => thrown);
    expect(asked).toEqual(['CONNECT refused.example.org:443']);
    expect(String(error)).toContain('through the proxy of HTTPS_PROXY');
    expect(String(error)).not.toContain('secret-word');
  });
});
