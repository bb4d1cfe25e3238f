import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Namespace, ServiceAccount } from '../../../constructs/api/resources.ts';
import { providerNames } from '../../../constructs/cluster/provider-names.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import type { Connection } from '../../../reconciler/kube/config.ts';
import { ScrapeAccess } from '../../../reconciler/operator/telemetry/scrape-access.ts';
import { serveMetricsSecurely } from '../../../reconciler/operator/http-servers.ts';
import { metricsReader, scrape } from '../../support/metrics-reader.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { ShippedRights } from '../../support/shipped-rights.ts';
import { applyObjects } from '../../tools/testbed/apply-objects.ts';

// A real API server decides, and the operator asks it with the rights of its installation.
const namespace = 'metrics';
const server = plainApiServer();
let rights: ShippedRights;
let connection: Connection;
let metrics: Server;
const errors: unknown[] = [];
let token: string;

beforeAll(async () => {
  const { apiVersion, kind } = ServiceAccount;
  await applyObjects(server.client, [
    { apiVersion: Namespace.apiVersion, kind: Namespace.kind, metadata: { name: namespace } },
    { apiVersion, kind, metadata: { namespace, name: 'other' } },
  ]);
  token = await metricsReader(server.client, { namespace, name: 'prometheus' });
  const { client, kubeconfig } = server;
  rights = await ShippedRights.grant({ client, kubeconfig, namespace, watchNamespace: namespace });
  connection = await rights.connect();
  const readable = { text: () => Promise.resolve('up 1\n'), contentType: 'text/plain' };
  const access = new ScrapeAccess(new KubeClient(connection), systemClock, (error) => errors.push(error));
  metrics = await serveMetricsSecurely(0, readable, access);
});
afterAll(async () => {
  metrics.closeAllConnections();
  metrics.close();
  await connection.close();
  await rights.end();
});

const read = (bearer?: string) => scrape((metrics.address() as AddressInfo).port, bearer);

it('a ServiceAccount that the role of the installation is bound to reads the metrics', async () => {
  expect(await read(token)).toEqual({ status: 200, text: 'up 1\n' });
});

it('another one is told which role is missing', async () => {
  expect(await read(await server.client.serviceAccountToken({ namespace, name: 'other' }))).toEqual({
    status: 403,
    text: expect.stringContaining(`bind the ClusterRole ${providerNames.metricsReaderRole}`) as string,
  });
});

it.each([undefined, 'invented'])('nothing is read with the token %s', async (invented) => {
  expect(await read(invented)).toMatchObject({ status: 401 });
});

it('the operator has the rights to ask', () => expect(errors).toEqual([]));
