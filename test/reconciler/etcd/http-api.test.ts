import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reachedPeers, readClusterVersion } from '../../../reconciler/etcd/http-api.ts';
import { createCA, issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';

type Send = (response: ServerResponse) => void;

/** What is read of a member that answers so. */
async function clusterVersion(send: Send): Promise<string> {
  const validity = validFor(3_600_000, new Date());
  const ca = await createCA({ commonName: 'test' }, validity);
  const plan = { commonName: 'member', organizations: [], usages: ['server'], hosts: ['etcd-0'] } as const;
  const { certificate: cert, key } = await issueCertificate(plan, ca, validity);
  const server = createServer({ cert, key }, (_, response) => send(response));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
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

const gauge = (remote: string, value: string) =>
  `etcd_network_active_peers{Local="8e9e05c52164694d",Remote="${remote}"} ${value}`;

describe('the members that a member reaches', () => {
  it.each<[what: string, lines: readonly string[], reached: readonly string[] | undefined]>([
    ['are not known of a member that says nothing of peers', ['etcd_server_has_leader 1'], undefined],
    ['have decimal ids', [gauge('fd422379fda50e48', '1')], ['18249187646912138824']],
    ['are those of which the gauge is 1', [gauge('2', '0'), gauge('3', '1')], ['3']],
    ['are none if all are 0', [gauge('2', '0')], []],
    ['are not what looks like it', [`x${gauge('2', '1')}`, gauge('2"} 1', '1'), gauge('3', '0')], []],
  ])('%s', (_, lines, reached) => {
    const found = reachedPeers(lines.join('\n'));
    expect(found && [...found]).toEqual(reached);
  });
});
