import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Secret } from '../../../../constructs/api/resources.ts';
import { ports } from '../../../../constructs/cluster/ports.ts';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import { encodedData } from '../../../../reconciler/pki/secret.ts';
import { instanceFrom, lanAddress } from '../../../tools/testbed/instance.ts';
import { AuditReceiver, createReceiverCA } from '../../../support/audit-receiver.ts';
import { NumberedConfigMaps } from '../../../support/numbered-config-maps.ts';
import { operatedNamespace } from '../../../support/operated-namespace.ts';
import { loadFanOutImage } from '../../../support/provider.ts';
import { endNamespace, makeNamespace } from '../../../support/test-namespace.ts';
import { until } from '../../../support/until.ts';
import { single } from '../../../support/workbench.ts';

const namespace = 'audited';
const platform = 'audited-platform';
const instance = instanceFrom(process.env, inject('testbed'));
const bench = operatedNamespace(namespace);

let own: AuditReceiver;
let shared: AuditReceiver;
let hanging: AuditReceiver;
let hosted: KubeClient | undefined;
let writer: NumberedConfigMaps | undefined;

beforeAll(async () => {
  const ca = await createReceiverCA();
  const host = lanAddress(instance, 1);
  const start = () => AuditReceiver.start(ca, { host });
  [own, shared, hanging] = await Promise.all([start(), start(), start()]);
  hanging.behaviour = 'hangs';
  await loadFanOutImage(instance, () => {});
  await makeNamespace(bench.client, platform);
  await createToken({ namespace, name: 'receiver' }, 'token-of-the-tenant');
  await createToken({ namespace: platform, name: 'receiver' }, 'token-of-the-platform');
  await (await bench.rights).grantAuditSecret({ namespace: platform, name: 'receiver' });
});

afterAll(async () => {
  await writer?.stop();
  await hosted?.connection.close();
  await endNamespace(bench.client, platform);
  await Promise.all([own, shared, hanging].map((receiver) => receiver.stop()));
});

const receiversOf = (receiver: AuditReceiver) => ({
  'controlplane.cluster.x-k8s.io/audit-receivers': new URL(receiver.url).host,
});

async function createToken(metadata: { namespace: string; name: string }, token: string): Promise<void> {
  const { apiVersion, kind } = Secret;
  await bench.client.create({ apiVersion, kind, metadata, data: encodedData({ token }) }, { fieldManager: 'test' });
}

const rules = [{ level: 'Metadata', verbs: ['create'], resources: [{ resources: ['configmaps'] }] }, { level: 'None' }];
const policy = { omitStages: ['RequestReceived'], rules };

function audited(): object {
  const certificateAuthority = own.ca;
  const secretName = 'receiver';
  const targets = [
    { server: own.url, certificateAuthority, authentication: { secretName } },
    { server: shared.url, certificateAuthority, authentication: { secretName, secretNamespace: platform } },
    { server: hanging.url, certificateAuthority },
  ];
  const args = { 'audit-webhook-batch-max-wait': '1s' };
  return { ...single, deployment: { apiServer: { args, audit: { policy, webhook: { targets } } } } };
}

const missing = (receiver: AuditReceiver, names: readonly string[]) => {
  const taken = new Set(receiver.records.map(({ objectRef }) => objectRef?.name));
  return names.filter((name) => !taken.has(name));
};

async function apiServer() {
  const pods = await bench.pods('c1', 'api-server');
  return pods.length === 1 ? pods[0]?.metadata.uid : undefined;
}

test('every receiver gets every record, over a rolling restart, while one of them hangs', async () => {
  await bench.create('c1', audited());
  await bench.untilCondition('c1', 'AuditReady', { reason: 'AuditSecretInvalid', message: /annotation/ });
  const granting = (of: string, annotations: object) =>
    bench.client.mergePatch(
      Secret,
      { namespace: of, name: 'receiver' },
      { metadata: { annotations } },
      { fieldManager: 'test' },
    );
  await granting(namespace, receiversOf(own));
  await granting(platform, { 'controlplane.cluster.x-k8s.io/audit-access': namespace, ...receiversOf(shared) });
  // No watch reports the Secret: the next reconcile reads it.
  await bench.untilSeen('c1');
  await bench.untilReady('c1');

  hosted = await bench.hosted('c1');
  writer = new NumberedConfigMaps({ client: hosted });
  await writer.untilMore(20);
  const before = await apiServer();
  const change = { policy: { rules: [{ level: 'None', users: ['nobody'] }, ...rules] } };
  await bench.patch('c1', { spec: { deployment: { apiServer: { audit: change } } } });
  await bench.untilRolledOut('c1');
  const after = await until('the old API server to end', apiServer);
  expect(after).not.toBe(before);
  await writer.untilMore(20);
  await writer.stop();
  for (const receiver of [own, shared])
    await until('the last record', () => missing(receiver, writer?.names ?? []).length === 0);

  expect(new Set(own.authorizations)).toEqual(new Set(['Bearer token-of-the-tenant']));
  expect(new Set(shared.authorizations)).toEqual(new Set(['Bearer token-of-the-platform']));
  expect(hanging.requests).toBeGreaterThan(0);
  const [pod] = await bench.pods('c1', 'api-server');
  const { podIP = '' } = (pod?.status ?? {}) as { readonly podIP?: string };
  const metrics = await (await fetch(`http://${podIP}:${ports.auditHealth}/metrics`)).text();
  expect(metrics).toMatch(new RegExp(`audit_fan_out_delivered_records_total{server="${own.url}"} [1-9]`));
  expect(metrics).toMatch(new RegExp(`audit_fan_out_queued_records{server="${hanging.url}"} [1-9]`));
});
