import { createSecureServer, constants, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { createCA, issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';
import { until } from '../../support/until.ts';

let server: Http2SecureServer;
let client: KubeClient;
let asked: ServerHttp2Stream[];

beforeEach(async () => {
  const validity = validFor(3_600_000, new Date());
  const certificateAuthority = await createCA({ commonName: 'test' }, validity);
  const plan = { commonName: 'server', organizations: [], usages: ['server'], hosts: ['127.0.0.1'] } as const;
  const { certificate: cert, key } = await issueCertificate(
    { ...plan, usages: ['server'] },
    certificateAuthority,
    validity,
  );
  asked = [];
  // The server accepts no byte of any body, as an overloaded one does.
  server = createSecureServer({ cert, key, settings: { initialWindowSize: 0 } });
  server.on('stream', (stream: ServerHttp2Stream) => {
    asked.push(stream);
    stream.on('error', () => {});
    if (asked.length > 1) return;
    stream.respond({ ':status': 200 });
    stream.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  client = new KubeClient(connectionFor({ server: `https://127.0.0.1:${port}`, ca: certificateAuthority.certificate }));
});
afterEach(async () => {
  await client.connection.close();
  server.close();
});

it('a request that is aborted before its body is sent is cancelled at the server', async () => {
  await client.raw('/healthz');
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'map' } };
  // Aborted by its signal, because after its deadline the connection is closed, too, some seconds later.
  const signal = AbortSignal.timeout(200);
  await expect(client.apply(object, { fieldManager: 'test', signal })).rejects.toThrow('timeout');
  expect(await until('the cancellation at the server', () => asked[1]?.closed && asked[1])).toMatchObject({
    rstCode: constants.NGHTTP2_CANCEL,
  });
});
