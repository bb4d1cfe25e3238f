import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigMap, Namespace, Secret, ServiceAccount } from '../../../constructs/api/resources.ts';
import { backupIdentityAnnotation } from '../../../constructs/api/group.ts';
import { serviceAccountTokenFor } from '../../../reconciler/backup/store/service-account-token.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connect, connectionFor, loadKubeConfig } from '../../../reconciler/kube/config.ts';
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  type KubeError,
} from '../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { RequestRecord } from '../../../reconciler/kube/request.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { settled } from '../../support/manual-clock.ts';

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const us = { fieldManager: 'us' };
const namespace = 'default';

const server = plainApiServer();
let proxy: FlakyProxy;
let client: KubeClient;
let requests: RequestRecord[];
let serial = 0;

const configMap = (data: Record<string, string>, name = `map-${++serial}`): ConfigMapObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name },
  data,
});
const failure = (call: Promise<unknown>): Promise<KubeError> =>
  call.then(
    () => Promise.reject(new Error('expected a failure')),
    (error: KubeError) => error,
  );

beforeEach(async () => {
  requests = [];
  proxy = await FlakyProxy.start(server.port);
  const target = { ...server.target, server: `https://127.0.0.1:${proxy.port}` };
  client = new KubeClient(connectionFor(target), { onRequest: (record) => requests.push(record) });
});
afterEach(async () => {
  await client.connection.close();
  await proxy.stop();
});

describe('a token of a ServiceAccount', () => {
  it('has the requested audience', async () => {
    const { apiVersion, kind } = ServiceAccount;
    await client.create({ apiVersion, kind, metadata: { namespace, name: 'backup' } }, us);
    const token = await client.serviceAccountToken({ namespace, name: 'backup' }, 'sts.example.org');
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as unknown;
    expect(claims).toMatchObject({ aud: ['sts.example.org'], sub: 'system:serviceaccount:default:backup' });
  });

  it('signs in to a backup store only as its ServiceAccount allows, and never to this API server', async () => {
    const { apiVersion, kind } = ServiceAccount;
    const annotations = { [backupIdentityAnnotation]: 'c1, c2' };
    await client.create({ apiVersion, kind, metadata: { namespace, name: 'stores', annotations } }, us);
    const request = { serviceAccount: 'stores', audience: 'sts.example.org' };
    const by = (name: string, changes: object = {}) =>
      serviceAccountTokenFor({ ...request, hostedControlPlane: { namespace, name }, ...changes }, client);
    expect(await by('c2')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    await expect(by('c3')).rejects.toThrow('does not let HostedControlPlane c3 use its tokens');
    const own = await client.serviceAccountToken({ namespace, name: 'stores' });
    const { aud } = JSON.parse(Buffer.from(own.split('.')[1] ?? '', 'base64url').toString('utf8')) as { aud: string[] };
    expect(aud.length).toBeGreaterThan(0);
    await expect(by('c2', { audience: aud[0] })).rejects.toThrow(`itself accepts tokens for ${aud[0]}`);
  });

  it('cannot be issued without the ServiceAccount, and the error names it', async () => {
    const error = await failure(client.serviceAccountToken({ namespace, name: 'missing' }, 'x'));
    expect(isNotFound(error)).toBe(true);
    expect(error.message).toContain('ServiceAccount default/missing (token)');
  });
});

describe('apply', () => {
  it('creates, changes, drops fields that are not rendered any more, and writes nothing when nothing changed', async () => {
    const object = configMap({ a: '1', b: '1' });
    const created = await client.apply(object, us);
    const requeueAt = await client.apply(object, us);
    expect(requeueAt.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    const changed = await client.apply({ ...object, data: { a: '2' } }, us);
    expect(changed.data).toEqual({ a: '2' });
    expect(changed.metadata.uid).toBe(created.metadata.uid);
  });

  it('stores nothing in a dry run', async () => {
    const object = configMap({ a: '1' });
    const answer = await client.apply(object, { ...us, dryRun: true });
    expect(answer.data).toEqual({ a: '1' });
    expect(await client.find(ConfigMap, object.metadata)).toBeUndefined();
  });

  it('names the other manager and the field of a conflict, and takes the field when forced', async () => {
    const object = configMap({ a: '1' });
    await client.apply(object, { fieldManager: 'them' });
    const error = await failure(client.apply({ ...object, data: { a: '2' } }, us));
    expect(isConflict(error)).toBe(true);
    expect(error.message).toBe(`apply ConfigMap default/${object.metadata.name}: conflict with "them" over .data.a`);
    const forced = await client.apply({ ...object, data: { a: '2' } }, { ...us, force: true });
    expect(forced.data).toEqual({ a: '2' });
  });

  it('refuses an unknown field as invalid, not as temporary', async () => {
    const error = await failure(client.apply({ ...configMap({}), dataa: { a: '1' } }, us));
    expect(error.message).toContain('.dataa: field not declared in schema');
    expect(isInvalid(error)).toBe(true);
  });

  it.each([
    ['bad base64', { key: 'hunter2!!' }],
    ['a value of another type', { key: { hunter2: 'hunter2' } }],
    ['a bad key', { 'bad key': 'aHVudGVyMg==' }],
  ])('never reveals the content of a Secret with %s', async (_, data) => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'secret' }, data };
    const error = await failure(client.apply(secret, us));
    expect(isInvalid(error)).toBe(true);
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toMatch(/hunter2|aHVudGVyMg/);
  });

  it('distinguishes a missing namespace from a missing object', async () => {
    const lost = { ...configMap({}), metadata: { namespace: 'nowhere', name: 'a' } };
    const error = await failure(client.apply(lost, us));
    expect(isNotFound(error)).toBe(true);
    expect(error.message).toContain('namespaces "nowhere" not found');
  });
});

describe('create, patch, delete', () => {
  it('creates once', async () => {
    const object = configMap({ a: '1' });
    await client.create(object, us);
    const error = await failure(client.create(object, us));
    expect([isAlreadyExists(error), isConflict(error)]).toEqual([true, true]);
  });

  it('merges a patch, and refuses one for an outdated version', async () => {
    const { metadata } = await client.apply(configMap({ a: '1', b: '1' }), us);
    const merged = await client.mergePatch<ConfigMapObject>(ConfigMap, metadata, { data: { b: null, c: '1' } }, us);
    expect(merged.data).toEqual({ a: '1', c: '1' });
    const { resourceVersion } = metadata;
    const stale = client.mergePatch(ConfigMap, metadata, { data: { d: '1' } }, { ...us, resourceVersion });
    expect(isConflict(await failure(stale))).toBe(true);
    const current = await client.mergePatch<ConfigMapObject>(
      ConfigMap,
      metadata,
      { metadata: { labels: { l: '1' } } },
      { ...us, resourceVersion: merged.metadata.resourceVersion },
    );
    expect(current.metadata.labels).toEqual({ l: '1' });
  });

  it('deletes, succeeds if there is nothing, and keeps another object of the same name', async () => {
    const { metadata } = await client.apply(configMap({}), us);
    expect(isConflict(await failure(client.delete(ConfigMap, metadata, { uid: 'another' })))).toBe(true);
    await client.delete(ConfigMap, metadata, { uid: metadata.uid, propagationPolicy: 'Background' });
    await client.delete(ConfigMap, metadata);
    expect(isNotFound(await failure(client.get(ConfigMap, metadata)))).toBe(true);
    expect(await client.find(ConfigMap, metadata)).toBeUndefined();
  });
});

describe('list', () => {
  it('collects all pages and adds what the server leaves out', async () => {
    const names = Array.from({ length: 620 }, (_, index) => `page-${index}`);
    const labels = { paged: 'yes' };
    for (let start = 0; start < names.length; start += 62) {
      const batch = names.slice(start, start + 62);
      await Promise.all(
        batch.map((name) => client.apply({ ...configMap({}), metadata: { namespace, name, labels } }, us)),
      );
    }
    requests = [];
    const { items, resourceVersion } = await client.list(ConfigMap, { namespace, labelSelector: 'paged=yes' });
    expect(new Set(items.map(({ metadata }) => metadata.name))).toEqual(new Set(names));
    expect(items[600]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(Number(resourceVersion)).toBeGreaterThan(0);
    expect(requests.map(({ verb, resource, code }) => [verb, resource, code])).toEqual([
      ['list', 'configmaps', 200],
      ['list', 'configmaps', 200],
    ]);
  });
});

describe('connection', () => {
  it('is shared by all requests', async () => {
    const watches = Array.from({ length: 8 }, () => client.watch(Secret, { namespace, timeoutSeconds: 60 }));
    const pending = watches.map((watch) => watch.next());
    await Promise.all(Array.from({ length: 60 }, () => client.list(Namespace)));
    await client.apply(configMap({}), us);
    expect(proxy.accepted).toBe(1);
    await client.connection.close();
    await Promise.allSettled(pending);
  });

  it('is opened again after a reset, invisible to the caller', async () => {
    await client.list(Namespace);
    proxy.reset();
    await client.list(Namespace);
    expect(proxy.accepted).toBe(2);
  });

  it('retries once, on a new connection, if the first is cut before the answer', async () => {
    await client.list(Namespace);
    proxy.goSilent();
    const call = client.list(Namespace);
    await settled();
    proxy.heal();
    proxy.reset();
    await call;
    expect(requests.map(({ code }) => code)).toEqual([200, 0, 200]);
  });

  it('does not retry a create, because it may have succeeded', async () => {
    await client.list(Namespace);
    proxy.goSilent();
    const call = failure(client.create(configMap({}), us));
    await settled();
    proxy.heal();
    proxy.reset();
    expect(await call).toMatchObject({ code: 0, reason: 'Unreachable' });
    expect(requests.map(({ code }) => code)).toEqual([200, 0]);
  });

  it('ends a request at the deadline without an answer, and works again once the network does', async () => {
    await client.list(Namespace);
    proxy.goSilent();
    const calls = [5_000, 500].map((deadlineMs) => failure(client.list(Namespace, { deadlineMs })));
    const error = await Promise.race(calls);
    expect(error.message).toMatch(/^list namespaces: https:\S+ did not answer within 500 ms$/);
    expect(error).toMatchObject({ code: 0, reason: 'Timeout' });
    await Promise.all(calls);
    proxy.heal();
    await client.list(Namespace);
  });

  it('reports that nothing listens', async () => {
    await proxy.stop();
    const error = await failure(client.list(Namespace));
    expect(error.message).toMatch(/^list namespaces: cannot reach https:\S+: connect ECONNREFUSED/);
    expect(error).toMatchObject({ code: 0, reason: 'Unreachable' });
    expect(requests).toHaveLength(1);
  });

  it('ends a request when its caller aborts it', async () => {
    await client.list(Namespace);
    proxy.goSilent();
    const controller = new AbortController();
    const call = client.list(Namespace, { signal: controller.signal });
    controller.abort(new Error('shutting down'));
    await expect(call).rejects.toThrow('shutting down');
  });

  it('verifies the specified name, not the address', async () => {
    const impostor = new KubeClient(connectionFor({ ...server.target, serverName: 'another.example' }));
    expect((await failure(impostor.raw('/version'))).message).toContain("does not match certificate's altnames");
    await impostor.connection.close();
  });

  it('reads a kubeconfig', async () => {
    const reader = new KubeClient(await connect(loadKubeConfig(server.kubeconfig)));
    expect(JSON.parse(await reader.raw('/version'))).toHaveProperty('gitVersion');
    await reader.connection.close();
  });

  it('of a client without rights fails as Forbidden', async () => {
    const { server: url, serverName, ca } = server.target;
    const anonymous = new KubeClient(connectionFor({ server: url, serverName, ca }));
    expect(isForbidden(await failure(anonymous.list(Secret)))).toBe(true);
    await anonymous.connection.close();
  });
});

describe('watch', () => {
  it('returns objects of a megabyte complete, with every character', async () => {
    const { resourceVersion } = await client.list(ConfigMap, { namespace });
    const data = { text: 'ä€😀\n'.repeat(90_000) };
    const applied = await client.apply(configMap(data), us);
    for await (const event of client.watch<ConfigMapObject>(ConfigMap, { namespace, resourceVersion })) {
      if (event.type === 'BOOKMARK') continue;
      expect(event.object).toEqual(applied);
      break;
    }
  });

  it('returns when the server ends it', async () => {
    const { resourceVersion } = await client.list(ConfigMap, { namespace });
    const events: string[] = [];
    for await (const event of client.watch(ConfigMap, { namespace, resourceVersion, timeoutSeconds: 1 })) {
      events.push(event.type);
    }
    expect(events.filter((type) => type !== 'BOOKMARK')).toEqual([]);
  });

  it('detects a silence that lasts too long', async () => {
    const { resourceVersion } = await client.list(ConfigMap, { namespace });
    const watch = client.watch(ConfigMap, { namespace, resourceVersion, silenceMs: 1_500 });
    const error = await failure(watch.next());
    expect(error.message).toMatch(/^watch configmaps in default: \S+ is silent: nothing has arrived for 1.5 s$/);
    expect(error).toMatchObject({ code: 0, reason: 'Silent' });
  });
});
