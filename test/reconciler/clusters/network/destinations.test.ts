import { createServer, type Server } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ObjectStore } from '../../../../reconciler/backup/store/object-store.ts';
import { assumeRole } from '../../../../reconciler/backup/store/web-identity.ts';
import { describeUnreachable } from '../../../../reconciler/clusters/exposure/unreachable.ts';
import {
  Destinations,
  type DestinationsOptions,
  InsideError,
} from '../../../../reconciler/clusters/network/destinations.ts';
import { CountingServer } from '../../../support/counting-server.ts';
import { storeAt } from '../../../support/object-store-server.ts';

/** Answers with these addresses, one set after the other, and then with the last one. */
const answering = (...answers: readonly (readonly string[])[]): LookupFunction => {
  let asked = 0;
  return (_host, _options, callback) => {
    const addresses = answers[Math.min(asked++, answers.length - 1)] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
};

const inside = ['10.96.0.0/12', '10.244.0.0/16', '192.0.2.10/32', 'fd00:96::/112'];
const destinations = (options: Partial<DestinationsOptions> = {}) =>
  new Destinations({
    denied: ['198.51.100.0/24'],
    inside: () => inside,
    apiServers: () => [
      { address: '10.96.0.1', port: 443 },
      { address: '192.0.2.10', port: 6443 },
    ],
    allowed: [],
    lookup: answering(['203.0.113.7']),
    ...options,
  });

const admits = (purpose: 'store' | 'endpoint', host: string, port: number, options?: Partial<DestinationsOptions>) => {
  try {
    destinations(options).guard(purpose).admit(host, port);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(InsideError);
    return false;
  }
};

const nowhere = [
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '169.254.169.254',
  '100.100.100.200',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '[::1]',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:169.254.169.254',
  '64:ff9b::127.0.0.1',
  'fd00:ec2::254',
];

describe('the operator', () => {
  it.each(nowhere)('connects to no server of a tenant at %s', (address) => {
    expect([admits('store', address, 443), admits('endpoint', address, 443)]).toEqual([false, false]);
    expect(admits('store', address, 443, { allowed: ['192.0.2.0/24'] })).toBe(false);
  });

  it('connects to no API server of the management cluster, and to other servers of the same node', () => {
    expect([admits('store', '192.0.2.10', 6443), admits('endpoint', '192.0.2.10', 6443)]).toEqual([false, false]);
    expect(admits('store', '10.96.0.1', 443)).toBe(false);
    expect([admits('store', '192.0.2.10', 30900), admits('endpoint', '192.0.2.10', 30443)]).toEqual([true, true]);
  });

  it('connects to stores in denied networks only where the platform has listed them, and to endpoints', () => {
    expect(admits('store', '198.51.100.7', 443)).toBe(false);
    expect(admits('store', '198.51.100.7', 443, { allowed: ['198.51.100.7/32'] })).toBe(true);
    expect(admits('store', '198.51.100.8', 443, { allowed: ['198.51.100.7/32'] })).toBe(false);
    expect(admits('endpoint', '198.51.100.7', 443)).toBe(true);
  });

  it('connects to stores in the cluster, and once the platform has listed some, to these only', () => {
    expect(admits('store', '10.96.7.1', 9000)).toBe(true);
    expect(admits('store', '10.96.7.1', 9000, { allowed: ['minio.minio.svc'] })).toBe(false);
    expect(admits('store', '10.96.7.1', 9000, { allowed: ['10.96.7.1'] })).toBe(true);
    expect(admits('store', '203.0.113.1', 443, { allowed: ['minio.minio.svc'] })).toBe(true);
  });
});

describe('a name', () => {
  const found = (host: string, options: Partial<DestinationsOptions>, all = true) =>
    new Promise((resolve) => {
      const guard = destinations(options).guard('store');
      guard.lookup(443)(host, { all }, (error, address) => resolve(error ?? address));
    });

  it('leads to the addresses at which the operator may connect', async () => {
    const lookup = answering(['127.0.0.1', '203.0.113.7']);
    expect(await found('a.example', { lookup })).toEqual([{ address: '203.0.113.7', family: 4 }]);
    expect(await found('a.example', { lookup }, false)).toBe('203.0.113.7');
    expect(await found('a.example', { lookup: answering(['127.0.0.1', '::1']) })).toBeInstanceOf(InsideError);
  });

  it('that the platform has listed leads anywhere', async () => {
    const lookup = answering(['10.96.7.1']);
    const allowed = ['minio.minio.svc'];
    expect(await found('MINIO.minio.svc.', { lookup, allowed })).toEqual([{ address: '10.96.7.1', family: 4 }]);
    expect(await found('other.minio.svc', { lookup, allowed })).toBeInstanceOf(InsideError);
  });
});

describe('a store', () => {
  let server: CountingServer;
  let web: Server;
  beforeEach(async () => {
    server = await CountingServer.start();
    web = createServer((_, response) => response.writeHead(404).end('<html>nothing here</html>'));
    await new Promise<void>((resolve) => {
      web.listen(0, '127.0.0.1', resolve);
    });
  });
  afterEach(async () => {
    web.close();
    await server.stop();
  });
  const webPort = () => (web.address() as AddressInfo).port;

  const messageOf = async (endpoint: string, options: Partial<DestinationsOptions>) => {
    const store = new ObjectStore(storeAt(endpoint), { destinations: destinations(options), stallMs: 2_000 });
    try {
      await store.size('a');
      return 'answered';
    } catch (error) {
      return String(error instanceof Error ? error.message : error).replaceAll(/:\d+|\S+\.example|127\.0\.0\.1/g, '');
    } finally {
      store.close();
    }
  };

  it.each(['http', 'https'])(
    'at a name that leads to the loopback address gets no connection, by %s',
    async (scheme) => {
      const lookup = answering(['127.0.0.1']);
      expect(await messageOf(`${scheme}://store.example:${server.port}`, { lookup })).toContain('ALLOWED_DESTINATIONS');
      expect(await messageOf(`${scheme}://127.0.0.1:${server.port}`, {})).toContain('ALLOWED_DESTINATIONS');
      expect(server.connections).toBe(0);
    },
  );

  it('gets none either at a name that leads elsewhere at first', async () => {
    const lookup = answering(['203.0.113.7'], ['127.0.0.1']);
    const guard = destinations({ lookup }).guard('store');
    const resolved = () =>
      new Promise((resolve) => guard.lookup(server.port)('a.example', {}, (error, one) => resolve(error ?? one)));
    expect(await resolved()).toBe('203.0.113.7');
    expect(await resolved()).toBeInstanceOf(InsideError);
  });

  it('inside fails in the same words whether nothing listens, something else answers, or it is not allowed', async () => {
    const closed = await CountingServer.start();
    const { port: closedPort } = closed;
    await closed.stop();
    // As if it were a Service of the cluster: the loopback address is listed by name only, and counts as inside.
    const lookup = answering(['127.0.0.1']);
    const mayConnect = new (class extends Destinations {
      override mayConnect = () => true;
    })({ denied: [], inside: () => [], apiServers: () => [], allowed: [], lookup });
    const told = async (port: number) => {
      const store = new ObjectStore(storeAt(`http://s.example:${port}`), { destinations: mayConnect, stallMs: 2_000 });
      const message = await store.size('a').then(
        () => 'answered',
        (error: Error) => error.message.replaceAll(`:${port}`, ''),
      );
      store.close();
      return message;
    };
    const all = [await told(closedPort), await told(server.port)];
    const refused = new ObjectStore(storeAt('http://s.example'), { destinations: destinations({ lookup }) });
    all.push(await refused.size('a').then(String, (error: Error) => error.message));
    refused.close();
    expect(new Set(all).size).toBe(1);
    expect(all[0]).toContain('and the operator reports nothing of servers there');
    expect(server.connections).toBeGreaterThan(0);
  });

  it('that the platform has listed reports what fails', async () => {
    const options = { lookup: answering(['127.0.0.1']), allowed: ['store.example'] };
    expect(await messageOf(`http://store.example:${webPort()}`, options)).not.toContain('ALLOWED_DESTINATIONS');
    expect(await messageOf(`http://store.example:${server.port}`, options)).toContain('cannot be reached');
  });

  it('has no token service inside either', async () => {
    const credentials = {
      kind: 'webIdentity',
      roleArn: 'r',
      tokenService: `https://sts.example:${server.port}`,
      token: async () => 'token',
    } as const;
    const guard = destinations({ lookup: answering(['127.0.0.1']) }).guard('store');
    const assumed = assumeRole({ ...storeAt('https://a'), credentials }, credentials, guard);
    await expect(assumed).rejects.toThrow('and the operator reports nothing of servers there');
    expect(server.connections).toBe(0);
  });
});

it('an endpoint inside is not reachable in one message', () => {
  const endpoint = { host: 'a.example', port: 443 };
  expect(describeUnreachable(new InsideError(), { endpoint })).toContain(
    'and the operator reports nothing of servers there',
  );
});
