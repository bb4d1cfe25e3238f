import { type AddressInfo, createServer, type Socket } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import {
  Cluster,
  ConfigMap,
  Event,
  HostedControlPlane,
  Secret,
  StatefulSet,
  versionOf,
} from '../../../constructs/api/resources.ts';
import { certificateKinds } from '../../../constructs/api/certificate-status.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { pausedAnnotation } from '../../../constructs/api/group.ts';
import { createCA, issueCertificate } from '../../../reconciler/pki/issue.ts';
import { writeKubeconfig } from '../../../reconciler/pki/kubeconfig.ts';
import { serveMetrics } from '../../../reconciler/operator/http-servers.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { installDefinition } from '../../support/definitions.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';

const namespace = 'bare';
const named = (name: string) => ({ namespace, name });

/** Only an API server: no controllers, and only one kind of Cluster API that is required. */
const server = plainApiServer();
const bench = operatedNamespace(namespace, {
  kubeconfig: () => server.kubeconfig,
  prepare: (client) => installDefinition(client, Cluster, { served: [versionOf(Cluster)] }),
});
beforeAll(async () => {
  await create('c1');
  await bench.untilCondition('c1', 'APIServerDeploymentsReady', { reason: 'WaitingForEtcd' });
});

/** Creates a control plane with the owner that Cluster API would set. */
async function create(cluster: string, etcd: object = {}, port = 30443): Promise<void> {
  const nodePort = { address: '192.0.2.10', port, konnectivityPort: port + 1 };
  await bench.create(cluster, { ...single, etcd: { ...single.etcd, ...etcd }, exposure: { nodePort } });
  await bench.nameOwner(cluster);
}

interface Sized extends KubeObject {
  readonly spec: { readonly template: { readonly spec: { readonly priorityClassName?: string } } };
}

test('an API server that dies under the operator causes a temporary failure only; a later change is applied', async () => {
  const before = await bench.client.get<Sized>(StatefulSet, named('c1-etcd'));
  const secrets = (await bench.client.list(Secret, { namespace })).items.map(({ metadata }) => metadata.uid);

  await server.killApiServer();
  await server.startApiServer();

  await bench.patch('c1', { spec: { etcd: { priorityClassName: 'system-cluster-critical' } } });
  await until('the change to arrive', async () => {
    const { spec } = await bench.client.get<Sized>(StatefulSet, named('c1-etcd'));
    return spec.template.spec.priorityClassName === 'system-cluster-critical';
  });
  const after = await bench.client.get<Sized>(StatefulSet, named('c1-etcd'));
  expect(after.metadata.uid).toBe(before.metadata.uid);
  expect((await bench.client.list(Secret, { namespace })).items.map(({ metadata }) => metadata.uid)).toEqual(secrets);
});

test('the status, the command line and the metrics report certificates', async () => {
  await bench.untilCondition('c1', 'CertificatesReady', { status: 'True' });
  const status = await until('the status to have every kind', async () => {
    const { status: found } = await bench.get('c1');
    return found?.certificates?.length === certificateKinds.length ? found : undefined;
  });
  expect(status.certificates?.map(({ kind }) => kind)).toEqual(certificateKinds);

  const { ended } = bench.hcp.run('status', 'c1', '-n', namespace, '-o', 'json');
  const { out, err } = await ended;
  // without controllers nothing serves
  expect(err).toBe('hcp: the API server of c1 is not available\n');
  expect(JSON.parse(out)).toMatchObject({ certificates: status.certificates, unknown: [] });
  expect(out).not.toContain('PRIVATE KEY');

  const served = await serveMetrics(0, bench.operator.operator.metrics);
  try {
    const { port } = served.address() as AddressInfo;
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const ends = status.certificates?.find(({ kind }) => kind === 'Server')?.notAfter ?? '';
    const labels = `namespace="${namespace}",name="c1-cp"`;
    const lines = text.split('\n');
    expect(lines).toContain(
      `hosted_control_plane_certificate_expiration_timestamp_seconds{${labels},kind="Server"} ${Date.parse(ends) / 1000}`,
    );
    expect(lines).toContain(`hosted_control_plane_condition{${labels},type="Available",status="False"} 1`);
    expect(text).toMatch(/hosted_control_plane_api_requests_total{cluster="management",verb="apply",code="20\d"} \d/);
    expect(text).toMatch(/hosted_control_plane_reconcile_duration_seconds_count{result="success"} [1-9]/);
  } finally {
    served.closeAllConnections();
    served.close();
  }
});

test('deletion leaves nothing, also if no Machines are installed', async () => {
  await bench.client.delete(HostedControlPlane, named('c1-cp'));
  await until(
    'the HostedControlPlane to be gone',
    async () => !(await bench.client.find(HostedControlPlane, named('c1-cp'))),
  );
  const left = await Promise.all(
    [Secret, ConfigMap, StatefulSet].map((kind) => bench.client.list(kind, { namespace })),
  );
  expect(left.flatMap(({ items }) => items.map(({ metadata }) => metadata.name))).toEqual([]);
});

test('background work ends when its control plane is paused, and starts again when it is resumed', async () => {
  const open = new Set<Socket>();
  let accepted = 0;
  const silentStore = createServer((socket) => {
    accepted += 1;
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => silentStore.listen(0, '127.0.0.1', resolve));
  try {
    const endpoint = `http://127.0.0.1:${(silentStore.address() as AddressInfo).port}`;
    const credentials = { kind: 'static', accessKeyId: 'id', secretAccessKey: 'key' } as const;
    const settings = { endpoint, region: 'r', bucket: 'b', prefix: '', certificateAuthority: undefined, credentials };
    await bench.client.create(storeSecret(named('store'), settings), { fieldManager: 'test' });
    await create('c2', { restore: { latest: true }, backup: { schedule: '@daily', secret: { name: 'store' } } });
    await until('the store to be asked for its backups', () => open.size > 0);

    const pause = (value: string | null) =>
      bench.patch('c2', { metadata: { annotations: { [pausedAnnotation]: value } } });
    await pause('');
    await bench.untilCondition('c2', 'Paused', { status: 'True' });
    await until('the store to be left alone', () => open.size === 0);
    const before = accepted;

    await pause(null);
    await bench.untilCondition('c2', 'EtcdRestoreReady', { reason: 'CheckingBackup' });
    await until('the store to be asked again', () => open.size > 0);
    expect(accepted).toBeGreaterThan(before);
  } finally {
    for (const socket of open) socket.destroy();
    silentStore.close();
  }
});

interface EventWithNote extends KubeObject {
  readonly reason?: string;
  readonly note?: string;
}

test("a user's kubeconfig that is about to expire is reported by one event, whatever happens then", async () => {
  const day = 24 * 3600_000;
  const validity = { notBefore: new Date(Date.now() - 70 * day), notAfter: new Date(Date.now() + 30 * day) };
  const certificateAuthority = await createCA({ commonName: 'theirs' }, validity);
  const plan = { commonName: 'somebody', organizations: [], usages: ['client'], hosts: [] } as const;
  const value = writeKubeconfig({
    cluster: 'c3',
    endpoint: { host: '192.0.2.10', port: 30443 },
    ca: certificateAuthority.certificate,
    client: await issueCertificate(plan, certificateAuthority, validity),
  });
  const { apiVersion, kind } = Secret;
  const data = { value: Buffer.from(value).toString('base64') };
  await bench.client.create({ apiVersion, kind, metadata: named('c3-kubeconfig'), data }, { fieldManager: 'test' });
  await create('c3', {}, 30453);
  const events = async () => {
    const { items } = await bench.client.list<EventWithNote>(Event, { namespace });
    return items.flatMap(({ reason, note }) => (reason === 'CertificateExpiring' ? [note] : []));
  };
  await until('the event', async () => (await events()).length > 0);

  await bench.restartOperator();
  await bench.patch('c3', { spec: { etcd: { priorityClassName: 'system-cluster-critical' } } });
  await until('a reconcile of the change', async () => {
    const { metadata, status } = await bench.get('c3');
    return status?.observedGeneration === metadata.generation;
  });
  expect(await events()).toEqual([
    expect.stringMatching(/^the certificate in Secret c3-kubeconfig expires at .*a user provided it/),
  ]);
});
