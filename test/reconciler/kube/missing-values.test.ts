import { afterEach, expect, it } from 'vitest';
import { Cluster, EndpointSlice, type Resource } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { type Http2Server, startHttp2Server } from '../../support/http2-server.ts';

const metadata = { name: 'n', namespace: 'team', labels: null, resourceVersion: '5' };
const read = { name: 'n', namespace: 'team', resourceVersion: '5' };

let server: Http2Server | undefined;
let client: KubeClient | undefined;
afterEach(async () => {
  await client?.close();
  await server?.stop();
});

/** What a client reads of one object: by a get, in a list and from a watch. */
async function readThrice(resource: Resource, object: object): Promise<unknown[]> {
  const { apiVersion, kind } = resource;
  const whole = { apiVersion, kind, metadata, ...object };
  const list = {
    apiVersion,
    kind: `${kind}List`,
    metadata: { resourceVersion: '5' },
    items: [{ metadata, ...object }],
  };
  server = await startHttp2Server((stream, { ':path': path = '' }) => {
    stream.respond({ ':status': 200, 'content-type': 'application/json' });
    if (path.includes('watch=')) return void stream.write(`${JSON.stringify({ type: 'ADDED', object: whole })}\n`);
    stream.end(JSON.stringify(path.endsWith('/n') ? whole : list));
  });
  client = new KubeClient(connectionFor(server.target));
  const events = client.watch(resource, { namespace: 'team' });
  const { value: event } = await events.next();
  const { items } = await client.list(resource, { namespace: 'team' });
  return [
    await client.get(resource, { name: 'n', namespace: 'team' }),
    items[0],
    event && 'object' in event && event.object,
  ];
}

it('null in a kind of Kubernetes reads as missing, however it is read', async () => {
  const { apiVersion, kind } = EndpointSlice;
  const object = { addressType: 'IPv4', endpoints: null, ports: [null, { name: 'https', port: null }] };
  const expected = { apiVersion, kind, metadata: read, addressType: 'IPv4', ports: [{ name: 'https' }] };
  expect(await readThrice(EndpointSlice, object)).toStrictEqual([expected, expected, expected]);
});

it('null in a kind of a CustomResourceDefinition is a value', async () => {
  const { apiVersion, kind } = Cluster;
  const spec = { topology: { variables: [{ name: 'proxy', value: null }] } };
  const expected = { apiVersion, kind, metadata, spec };
  expect(await readThrice(Cluster, { spec })).toStrictEqual([expected, expected, expected]);
});
