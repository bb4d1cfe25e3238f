import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connect, connectionFor, loadKubeConfig } from '../../../reconciler/kube/config.ts';

let server: Server;
let url: string;
let seen: (string | undefined)[];
let directory: string;

beforeEach(async () => {
  seen = [];
  directory = await mkdtemp(join(tmpdir(), 'config-test-'));
  server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterEach(async () => {
  vi.useRealTimers();
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
});

/** The kubeconfig of a plain server with this user. */
function kubeConfig(user: object, cluster: object = {}): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'test', server: url, skipTLSVerify: true, ...cluster },
    { name: 'someone', ...user },
  );
  return config;
}

/** What the server received in one request per step. */
async function request(config: KubeConfig, ...between: (() => Promise<void>)[]): Promise<void> {
  const client = new KubeClient(await connect(config));
  await client.raw('/');
  for (const step of between) {
    await step();
    await client.raw('/');
  }
  await client.connection.close();
}

describe('connect', () => {
  it('reads a rotated token file again within two minutes', async () => {
    const tokenFile = join(directory, 'token');
    await writeFile(tokenFile, 'first\n');
    await request(kubeConfig({ authProvider: { name: 'tokenFile', config: { tokenFile } } }), async () => {
      await writeFile(tokenFile, 'second\n');
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    });
    expect(seen).toEqual(['Bearer first', 'Bearer second']);
  });

  it.each([
    ['a token', { token: 'secret' }, 'Bearer secret'],
    ['a password', { username: 'me', password: 'secret' }, `Basic ${Buffer.from('me:secret').toString('base64')}`],
    ['nothing', {}, undefined],
  ])('authenticates with %s', async (_, user, expected) => {
    await request(kubeConfig(user));
    expect(seen).toEqual([expected]);
  });

  it('keeps the namespace of the context', async () => {
    const file = join(directory, 'kubeconfig');
    const contexts = [{ name: 'test', context: { cluster: 'test', user: 'someone', namespace: 'here' } }];
    const clusters = [{ name: 'test', cluster: { server: url, 'insecure-skip-tls-verify': true } }];
    const users = [{ name: 'someone', user: {} }];
    await writeFile(file, JSON.stringify({ 'current-context': 'test', contexts, clusters, users }));
    expect((await connect(loadKubeConfig(file))).namespace).toBe('here');
  });

  it('names a kubeconfig that it cannot read, and quotes nothing of it', async () => {
    expect(() => loadKubeConfig(join(directory, 'none'))).toThrow(/^the kubeconfig .*\/none cannot be read: ENOENT/);
    const file = join(directory, 'broken');
    await writeFile(file, 'users:\n- user:\n    token: of-a-user\n   client: x\n');
    expect(() => loadKubeConfig(file)).toThrow(/^the kubeconfig .*\/broken cannot be read: /);
    expect(() => loadKubeConfig(file)).not.toThrow('of-a-user');
  });

  it('refuses a kubeconfig that it cannot use, with a remedy', async () => {
    const lost = kubeConfig({});
    lost.setCurrentContext('elsewhere');
    await expect(connect(lost)).rejects.toThrow(
      'kubeconfig context "elsewhere" does not name a cluster: set current-context',
    );
    const socks = kubeConfig({}, { proxyUrl: 'socks5://proxy:1080' });
    await expect(connect(socks)).rejects.toThrow('proxy socks5://proxy:1080 is not supported: use an HTTP proxy');
  });

  it('reports missing credentials as an error that may be temporary', async () => {
    const tokenFile = join(directory, 'token');
    await writeFile(tokenFile, 'first');
    const client = new KubeClient(await connect(kubeConfig({ authProvider: { name: 'f', config: { tokenFile } } })));
    await rm(tokenFile);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    await expect(client.raw('/')).rejects.toThrow(`get /: no credentials for ${url}: ENOENT`);
    await client.connection.close();
  });
});

describe('connectionFor', () => {
  it('sends its token and has no trailing slash', async () => {
    const connection = connectionFor({ server: `${url}/`, ca: '', token: 'secret' });
    await new KubeClient(connection).raw('/');
    await connection.close();
    expect([connection.baseUrl, seen]).toEqual([url, ['Bearer secret']]);
  });

  it('replaces a failed pool once, however many requests failed with it', async () => {
    const connection = connectionFor({ server: url, ca: '' });
    const failed = connection.dispatcher();
    connection.renew(failed);
    const renewed = connection.dispatcher();
    connection.renew(failed);
    expect(renewed).not.toBe(failed);
    expect(connection.dispatcher()).toBe(renewed);
    await connection.close();
  });
});
