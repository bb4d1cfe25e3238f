import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CertificateSigningRequest } from '../../../constructs/api/resources.ts';
import type { CertificateRequest } from '../../../reconciler/pki/certificate-signing-request.ts';
import { recordFault } from '../../support/fault-table.ts';
import { kubeletRequest, type KubeletRequestChanges } from '../../support/kubelet-request.ts';
import { until } from '../../support/until.ts';
import { lanAddress } from '../../tools/testbed/instance.ts';
import { borrowJoinableCluster, giveBack, type JoinedWorker, type LentCluster } from '../workers/joinable-cluster.ts';
import { requestAsNode } from '../workers/node-certificate-request.ts';
import { webServer } from '../workers/web-server.ts';

let cluster: LentCluster;
let worker: JoinedWorker;

beforeAll(async () => {
  cluster = await borrowJoinableCluster();
  [worker] = cluster.workers;
});
afterAll(() =>
  giveBack(cluster, async () => {
    await cluster.remove(webServer);
    await cluster.api.client.delete(CertificateSigningRequest, { name: 'own' });
  }),
);

const address = () => lanAddress(cluster.instance, worker.machine.number);
const find = (name: string) => cluster.api.client.find<CertificateRequest>(CertificateSigningRequest, { name });

/** What the kubelet of the worker has asked for, and an attacker with its credentials. */
async function ownRequests(): Promise<CertificateRequest[]> {
  const { items } = await cluster.api.client.list<CertificateRequest>(CertificateSigningRequest);
  return items.filter(({ spec }) => spec.username === `system:node:${worker.name}`);
}

/** Sends a request with the credentials of the kubelet, as an attacker on its machine would. */
async function ask(name: string, changes: KubeletRequestChanges): Promise<void> {
  const subject = [{ O: ['system:nodes'] }, { CN: [`system:node:${worker.name}`] }];
  const { apiVersion, kind, metadata, spec } = await kubeletRequest({
    subject,
    hosts: [worker.name],
    ...changes,
    name,
  });
  const { request, signerName, usages } = spec;
  const object = { apiVersion, kind, metadata: { name: metadata.name }, spec: { request, signerName, usages } };
  await requestAsNode(worker.machine, object);
}

async function untilIssued(name: string): Promise<X509Certificate> {
  const certificate = await until(`a certificate for ${name}`, async () => (await find(name))?.status?.certificate);
  return new X509Certificate(Buffer.from(certificate, 'base64'));
}

test('a kubelet serves with a certificate of the cluster for its own name and address', async () => {
  const request = await until('a request', async () => {
    const requests = await ownRequests();
    return requests.find(({ spec }) => spec.signerName === 'kubernetes.io/kubelet-serving');
  });
  const certificate = await untilIssued(request.metadata.name);
  expect(certificate.checkIssued(new X509Certificate(cluster.api.certificateAuthority))).toBe(true);
  expect(certificate.subjectAltName).toBe(`DNS:${worker.name}, IP Address:${address()}`);
});

test('logs, commands and metrics work through it', async () => {
  await cluster.apply(webServer);
  await cluster.kubectl(['rollout', 'status', 'deployment/web', '--timeout=180s']);
  await until('logs', () => cluster.kubectl(['logs', 'deployment/web']).catch(() => undefined));
  expect(await cluster.kubectl(['exec', 'deployment/web', '--', 'echo', 'hello'])).toContain('hello');
  const metrics = await cluster.kubectl(['get', '--raw', `/api/v1/nodes/${worker.name}/proxy/metrics`]);
  expect(metrics).toContain('kubelet_running_pods');
});

describe('a request by an attacker on a node', () => {
  test('is approved for its own names', async () => {
    await ask('own', {});
    expect((await untilIssued('own')).subjectAltName).toBe(`DNS:${worker.name}`);
  });

  test.each<[string, KubeletRequestChanges]>([
    ['another-node', { hosts: ['another-node'] }],
    ['api-server', { hosts: ['kubernetes.default.svc'] }],
    ['mailbox', { otherNames: [{ type: 'email', value: 'root@example.org' }] }],
  ])('is not approved for others: %s', async (name, changes) => {
    await ask(name, changes);
    const condition = await cluster.bench.untilCondition('hosted', 'WorkloadKubeletCertificatesReady', {
      reason: 'RequestNotApproved',
    });
    await until('the condition', async () => {
      const { message } = await cluster.bench.untilCondition('hosted', 'WorkloadKubeletCertificatesReady', {});
      return message.includes(`CertificateSigningRequest ${name} `);
    });
    expect(condition.status).toBe('False');
    expect((await find(name))?.status?.conditions ?? []).toEqual([]);
    await cluster.bench.untilReady('hosted');
    await cluster.api.client.delete(CertificateSigningRequest, { name });
    await cluster.bench.untilCondition('hosted', 'WorkloadKubeletCertificatesReady', { status: 'True' });
  });

  test('is not approved even if the node claims the address of the API server', async () => {
    const claimed = { status: { addresses: [{ type: 'ExternalIP', address: '10.128.0.1' }] } };
    const patch = ['--subresource=status', '--type=strategic', '--patch', JSON.stringify(claimed)];
    await cluster.kubectl(['patch', 'node', worker.name, ...patch]);
    await ask('claimed', { hosts: ['10.128.0.1'] });
    const { message } = await cluster.bench.untilCondition('hosted', 'WorkloadKubeletCertificatesReady', {
      reason: 'RequestNotApproved',
    });
    expect(message).toContain('contains 10.128.0.1, which no node can have');
    await recordFault({
      fault: 'a kubelet that asks for a certificate in the name of the API server',
      observed: 'the request is not approved, and WorkloadKubeletCertificatesReady names it; nothing else changes',
      recoverySeconds: undefined,
      dataLost: 'none',
    });
    await cluster.api.client.delete(CertificateSigningRequest, { name: 'claimed' });
    // The kubelet has seen it, too: it asks for a certificate with this address until it reports its own ones again.
    const addresses = ['get', 'node', worker.name, '--output', 'jsonpath={.status.addresses[*].address}'];
    await until('the claim to be forgotten', async () => {
      const isForgotten = !(await cluster.kubectl(addresses)).includes('10.128.0.1');
      const undecided = (await ownRequests()).filter(({ status }) => (status?.conditions ?? []).length === 0);
      for (const { metadata } of undecided) await cluster.api.client.delete(CertificateSigningRequest, metadata);
      return isForgotten && undecided.length === 0;
    });
  });
});
