import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HeadBucketCommand } from '@aws-sdk/client-s3';
import { Agent } from 'undici';
import { ConfigMap } from '../../../../constructs/api/resources.ts';
import { done } from '../../../../reconciler/engine/outcome.ts';
import { runPhases } from '../../../../reconciler/engine/run-phases.ts';
import { KubeClient } from '../../../../reconciler/kube/client.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { Informer } from '../../../../reconciler/kube/informer.ts';
import type { Connection } from '../../../../reconciler/kube/config.ts';
import { s3Client } from '../../../../reconciler/backup/store/s3-client.ts';
import { MemberClient } from '../../../../reconciler/etcd/client.ts';
import { createCA, validFor } from '../../../../reconciler/pki/issue.ts';
import { inSpan } from '../../../../reconciler/kube/span.ts';
import { startTracing } from '../../../../reconciler/operator/telemetry/start-tracing.ts';
import { until } from '../../../support/until.ts';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

interface Batch {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

/** Spans as a collector of OpenTelemetry gets them. */
let received: Span[];
/** The header `traceparent` of each request to the API server. */
let parents: (string | undefined)[];
let collector: Server;
let apiServer: Server;
const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

beforeAll(async () => {
  collector = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const { resourceSpans } = JSON.parse(body) as Batch;
      received.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  apiServer = createServer((request, response) => {
    const { traceparent } = request.headers;
    parents.push(Array.isArray(traceparent) ? traceparent[0] : traceparent);
    const isThere = request.url?.endsWith('/there') ?? false;
    const object = isThere
      ? { kind: 'ConfigMap', metadata: { name: 'there' } }
      : { kind: 'Status', reason: 'NotFound' };
    response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(object));
  });
  for (const server of [collector, apiServer])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  for (const server of [collector, apiServer]) {
    server.close();
    server.closeAllConnections();
  }
});
beforeEach(() => {
  received = [];
  parents = [];
});

function connection(): Connection {
  const agent = new Agent();
  return {
    baseUrl: urlOf(apiServer),
    namespace: undefined,
    dispatcher: () => agent,
    authHeaders: async () => ({ authorization: 'Bearer of-the-operator' }),
    renew: () => {},
    close: () => agent.close(),
  };
}

/** A reconcile with one phase that reads an object. */
async function reconcile(name: string): Promise<void> {
  const client = new KubeClient(connection());
  const phase = {
    condition: 'NetworkPoliciesReady' as const,
    needs: [],
    async run() {
      await client.get(ConfigMap, { namespace: 'a', name });
      return done();
    },
  };
  const scope = { facts: { certificates: {}, mounts: {} }, now: new Date(), takesRefusals: false };
  await inSpan('reconcile', { 'hosted_control_plane.key': 'a/b' }, () => runPhases([phase], scope));
  await client.connection.close();
}

describe('with a collector', () => {
  const nameOf = ({ name }: Span): string => name;
  const parentOf = (span: Span): string | undefined =>
    received.find(({ spanId }) => spanId === span.parentSpanId)?.name;

  async function traced(name: string): Promise<void> {
    const tracing = await startTracing(`${urlOf(collector)}/v1/traces`, (message) => {
      throw new Error(message);
    });
    await reconcile(name);
    await tracing.stop();
  }

  it('a reconcile, its phases and their requests are one trace, which the API server can continue', async () => {
    await traced('there');
    const spans = new Map(received.map((span) => [span.name, parentOf(span)]));
    expect(spans).toEqual(
      new Map([
        ['reconcile', undefined],
        ['NetworkPoliciesReady', 'reconcile'],
        ['get configmaps', 'NetworkPoliciesReady'],
      ]),
    );
    expect(new Set(received.map(({ traceId }) => traceId)).size).toBe(1);
    const request = received.find((span) => nameOf(span) === 'get configmaps');
    expect(parents).toEqual([`00-${request?.traceId}-${request?.spanId}-01`]);
    expect(request?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 200 } });
    expect(JSON.stringify(received)).not.toContain('of-the-operator');
  });

  it('calls of etcd and of a store have spans, too, without the content of either', async () => {
    const ca = await createCA({ commonName: 'etcd' }, validFor(3_600_000, new Date()));
    const credentials = { ca: ca.certificate, cert: ca.certificate, key: ca.key };
    const member = new MemberClient(
      { name: 'c1-etcd-0', address: '127.0.0.1:1', serverName: 'localhost' },
      credentials,
    );
    const keys = { accessKeyId: 'id-of-the-key', secretAccessKey: 'secret-of-the-key' };
    const store = { endpoint: urlOf(apiServer), region: 'any', bucket: 'any', prefix: '' };
    const s3 = s3Client({ ...store, credentials: { kind: 'static', ...keys } }, { connectMs: 1_000, idleMs: 1_000 });
    const tracing = await startTracing(`${urlOf(collector)}/v1/traces`, () => {});
    await inSpan('backup', {}, async () => {
      await expect(member.status()).rejects.toThrow('status at etcd member c1-etcd-0 failed');
      const bucket = s3.send(new HeadBucketCommand({ Bucket: 'any' }));
      await expect(bucket).rejects.toMatchObject({ $metadata: { httpStatusCode: 404 } });
    });
    await tracing.stop();
    member.close();
    s3.destroy();
    const failed = received.filter(({ status }) => status.code === 2);
    expect(failed.map((span) => [span.name, parentOf(span)])).toEqual([
      ['etcd status', 'backup'],
      ['S3 HeadBucket', 'backup'],
    ]);
    expect(failed[0]?.attributes).toContainEqual({ key: 'etcd.member', value: { stringValue: 'c1-etcd-0' } });
    expect(JSON.stringify(received)).not.toContain('-of-the-key');
  });

  it('a watch that a reconcile starts is no part of it: it goes on, and causes other reconciles', async () => {
    const client = new KubeClient(connection());
    const informer = new Informer({ client, clock: systemClock, resource: ConfigMap, onError: () => {} });
    const tracing = await startTracing(`${urlOf(collector)}/v1/traces`, () => {});
    await inSpan('reconcile', {}, async () => informer.start());
    await until('a request of the informer', () => parents.length > 0);
    await informer.stop();
    await tracing.stop();
    expect(received.map((span) => [span.name, parentOf(span)])).toEqual(
      expect.arrayContaining([
        ['reconcile', undefined],
        ['list configmaps', undefined],
      ]),
    );
    await client.connection.close();
  });

  it('what fails says so', async () => {
    await traced('missing');
    const failed = received.filter(({ status }) => status.code === 2);
    expect(failed.map(nameOf).sort()).toEqual(['NetworkPoliciesReady', 'get configmaps']);
    expect(failed[0]?.status.message).toContain('ConfigMap a/missing');
  });
});

describe('without tracing', () => {
  it('requests carry no header, and nothing is sent', async () => {
    await reconcile('there');
    expect(parents).toEqual([undefined]);
    expect(received).toEqual([]);
  });
});

describe('a collector that refuses', () => {
  it('is told about, and changes nothing else', async () => {
    const told: string[] = [];
    const tracing = await startTracing(`${urlOf(apiServer)}/v1/traces`, (message) => told.push(message));
    await reconcile('there');
    await tracing.stop();
    expect(told.join(' ')).toMatch(/\/v1\/traces: .*Not Found/);
    expect(received).toEqual([]);
  });
});
