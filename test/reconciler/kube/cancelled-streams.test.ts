import { constants } from 'node:http2';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { type Http2Server, sendJson, startHttp2Server } from '../../support/http2-server.ts';
import { until } from '../../support/until.ts';

let server: Http2Server;
let client: KubeClient;

beforeEach(async () => {
  // The server accepts no byte of any body, as an overloaded one does.
  server = await startHttp2Server(
    (stream, headers) => {
      if (headers[':path'] === '/healthz') sendJson(stream, {});
    },
    { initialWindowSize: 0 },
  );
  client = new KubeClient(connectionFor(server.target));
});
afterEach(async () => {
  await client.connection.close();
  await server.stop();
});

it('a request that is aborted before its body is sent is cancelled at the server', async () => {
  await client.raw('/healthz');
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'map' } };
  const signal = AbortSignal.timeout(200);
  await expect(client.apply(object, { fieldManager: 'test', signal })).rejects.toThrow('timeout');
  const asked = () => server.requests[1]?.stream;
  expect(await until('the cancellation at the server', () => asked()?.closed && asked())).toMatchObject({
    rstCode: constants.NGHTTP2_CANCEL,
  });
});
