import { describe, expect, it } from 'vitest';
import { HostedClusterNotReady } from '../../../../reconciler/clusters/hosted/outage.ts';
import type { HostedClient } from '../../../../reconciler/clusters/hosted/hosted-client.ts';
import { kubeletServingCertificates } from '../../../../reconciler/phases/workload/kubelet-serving-certificates.ts';
import { kubeletRequest } from '../../../support/kubelet-request.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { now, scopeOf, spec } from '../../../support/scope.ts';

const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();
const daysAgo = (days: number) => minutesAgo(days * 24 * 60);

interface Situation {
  /** Undefined without a hibernation. */
  readonly hibernation?: { readonly since: string; readonly until?: string } | undefined;
  /** The last report of the kubelet of each Node. */
  readonly reports?: Readonly<Record<string, string>>;
  readonly hosted?: Partial<HostedClient>;
}

const over = { since: daysAgo(90), until: minutesAgo(7) };

/** The outcome of the phase, and how often it asked for reports. */
async function run({ hibernation, reports = { n1: daysAgo(90) }, hosted }: Situation) {
  let asked = 0;
  const client: Partial<HostedClient> = {
    certificateRequests: () => [],
    nodeReports: async () => {
      asked += 1;
      return Object.entries(reports).map(([name, at]) => ({ name, at: new Date(at) }));
    },
    ...hosted,
  };
  const status = { conditions: [], ...(hibernation ? { hibernation } : {}) };
  const scope = scopeOf(new MemoryObjects(), { facts: knownFacts, hosted: client, status });
  return { outcome: await kubeletServingCertificates.run(scope), asked };
}

describe('kubelets that do not come back after a hibernation', () => {
  it('are named with what a user can do, and looked at again', async () => {
    const reports = { lost: daysAgo(90), back: minutesAgo(2) };
    const { outcome } = await run({ hibernation: over, reports });
    expect(outcome).toMatchObject({
      kind: 'degraded',
      reason: 'KubeletCertificatesExpired',
      message: expect.stringMatching(/^no report of Nodes lost has come since .*Machines/),
      requeueAt: new Date('2026-11-21T12:10:00Z'),
    });
  });

  it('have six minutes from the first answer of an API server on, which the status keeps', async () => {
    const first = await run({ hibernation: { since: daysAgo(90) } });
    expect(first).toMatchObject({
      outcome: {
        kind: 'done',
        requeueAt: new Date('2026-11-21T12:06:00Z'),
        report: { hibernation: { since: daysAgo(90), until: now.toISOString() } },
      },
      asked: 0,
    });
    expect(await run({ hibernation: { since: daysAgo(90), until: minutesAgo(5) } })).toMatchObject({
      outcome: { kind: 'done', requeueAt: new Date('2026-11-21T12:01:00Z') },
      asked: 0,
    });
  });

  it.each<[string, Situation]>([
    ['they had stopped long before it', { hibernation: over, reports: { n1: daysAgo(91) } }],
    [
      'it was shorter than a certificate that was renewed in time lasts',
      { hibernation: { since: daysAgo(36), until: minutesAgo(7) }, reports: { n1: daysAgo(36) } },
    ],
    ['they have all reported', { hibernation: over, reports: { n1: minutesAgo(3) } }],
  ])('are none if %s, and are not looked for again', async (_, situation) => {
    expect(await run(situation)).toMatchObject({
      outcome: { kind: 'done', requeueAt: undefined, report: { hibernation: undefined } },
      asked: 1,
    });
  });

  it('may lose certificates sooner if these are shorter', async () => {
    const day = { since: daysAgo(2), until: minutesAgo(7) };
    const args = { 'cluster-signing-duration': '24h' };
    const client: Partial<HostedClient> = {
      certificateRequests: () => [],
      nodeReports: async () => [{ name: 'n1', at: new Date(daysAgo(2)) }],
    };
    const scope = scopeOf(new MemoryObjects(), {
      facts: knownFacts,
      hosted: client,
      status: { conditions: [], hibernation: day },
      spec: { ...spec, deployment: { controllerManager: { args } } },
    });
    expect(await kubeletServingCertificates.run(scope)).toMatchObject({ reason: 'KubeletCertificatesExpired' });
  });

  it('are not asked for without a hibernation', async () => {
    const { outcome, asked } = await run({ reports: { n1: daysAgo(90) } });
    expect(outcome).toMatchObject({ kind: 'done', requeueAt: undefined, report: undefined });
    expect(asked).toBe(0);
  });

  it('are named beside requests that the operator does not approve', async () => {
    const forged = await kubeletRequest({ name: 'forged', hosts: ['192.0.2.99'] });
    const node = async () => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    const { outcome } = await run({ hibernation: over, hosted: { certificateRequests: () => [forged], node } });
    expect(outcome).toMatchObject({
      reason: 'KubeletCertificatesExpired',
      message: expect.stringMatching(/^no report of Nodes n1 .*CertificateSigningRequest forged /),
    });
  });

  it('are waited for while no API server answers', async () => {
    const nodeReports = () => Promise.reject(new HostedClusterNotReady('no answer', 5_000, undefined));
    const { outcome } = await run({ hibernation: over, hosted: { nodeReports } });
    expect(outcome).toMatchObject({ kind: 'wait', reason: 'WaitingForAPIServer', afterMs: 5_000 });
  });
});

it('requests of many Nodes are waited for while no API server answers', async () => {
  const requests = await Promise.all(
    ['n1', 'n2'].map((name) => kubeletRequest({ name: `csr-${name}`, username: `system:node:${name}` })),
  );
  const node = () => Promise.reject(new HostedClusterNotReady('no answer', 5_000, undefined));
  const { outcome } = await run({ hosted: { certificateRequests: () => requests, node } });
  expect(outcome).toMatchObject({ kind: 'wait', reason: 'WaitingForAPIServer' });
});
