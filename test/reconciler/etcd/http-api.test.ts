import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { afterEach, expect, it } from 'vitest';
import { readClusterVersion } from '../../../reconciler/etcd/http-api.ts';
import { createCA, issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';

let server: Server;

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

type Send = (response: ServerResponse) => void;

/** What is read of a member that answers so. */
async function clusterVersion(send: Send): Promise<string> {
  const validity = validFor(3_600_000, new Date());
  const ca = await createCA({ commonName: 'test' }, validity);
  const plan = { commonName: 'member', organizations: [], usages: ['server'], hosts: ['etcd-0'] } as const;
  const { certificate: cert, key } = await issueCertificate(plan, ca, validity);
  server = createServer({ cert, key }, (_, response) => send(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : '';
  const member = { name: 'etcd-0', address: `127.0.0.1:${port}`, serverName: 'etcd-0' };
  return readClusterVersion({
    member,
    credentials: { ca: ca.certificate, cert, key },
    deadlineMs: 5_000,
  });
}

it('the cluster version of etcd is read', async () => {
  await expect(clusterVersion((response) => response.end('{"etcdcluster":"3.6.0"}'))).resolves.toBe('3.6.0');
});

it('an answer of etcd without end is not read to its end', async () => {
  const reading = clusterVersion((response) => {
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16 * 1024)));
    };
    response.on('drain', more);
    more();
  });
  const error: unknown = await reading.catch((failure: unknown) => failure);
  expect(error).toMatchObject({ cause: { message: 'the answer is larger than 64 KiB' } });
});
