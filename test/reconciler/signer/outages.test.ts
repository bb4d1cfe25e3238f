import { expect, it } from 'vitest';
import { requestLabels } from '../../../constructs/api/kubeconfig-request.ts';
import { CertificateSigningRequest } from '../../../constructs/api/resources.ts';
import { type ClientCertificateRequest, isAnswered } from '../../../reconciler/signer/request.ts';
import { Signer } from '../../../reconciler/signer/signer.ts';
import { createLogger } from '../../../reconciler/engine/log.ts';
import { clientCertificateRequest } from '../../support/client-certificate-request.ts';
import { Network, type Outage } from '../../support/loop/network.ts';
import { orderedCluster } from '../../support/loop/scenario.ts';
import { operatorUser } from '../../support/loop/shipped-rights.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
import { clusterName, namespace } from '../../support/scope.ts';

it.each<Outage>(['killed', 'without etcd'])(
  'answers a request within 20 s after the API server was %s, however long its answer has failed',
  async (outage) => {
    const { clock, management: server, user } = await orderedCluster();
    const network = new Network(clock, () => server.store.version);
    const client = new MemoryClient(server, operatorUser(), {
      before: network.send,
      receive: (events, signal) => network.receive(events, signal),
    });
    const failures: string[] = [];
    const sink = { write: (line: string) => void (line.includes('not answered') && failures.push(line)) };
    const log = createLogger({ format: 'json', level: 'warn' }, sink);
    const management = { list: () => [], get: () => undefined };
    const signer = new Signer({ client, clock, management, log, events: { record: () => {} }, answersFor: () => true });
    await signer.start();
    const isAway = network.cutAfter(0, outage);
    const { apiVersion, kind, spec } = await clientCertificateRequest();
    const metadata = { name: 'csr-1', labels: requestLabels(namespace, clusterName) };
    await user.create({ apiVersion, kind, metadata, spec }, { fieldManager: 'jane' });
    await clock.advance(5 * 60_000);
    expect(isAway.aborted).toBe(true);
    // The next retry after this one would be a minute away.
    const before = failures.length;
    while (failures.length === before) await clock.advance(500);
    network.restore();
    await clock.advance(20_000);
    const request = await user.get<ClientCertificateRequest>(CertificateSigningRequest, { name: 'csr-1' });
    expect([isAnswered(request), before > 10]).toEqual([true, true]);
    await signer.stop();
  },
);
