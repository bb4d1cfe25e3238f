import { describe, expect, it } from 'vitest';
import { HostedClusterNotReady } from '../../../../reconciler/hosted/not-ready.ts';
import type { HostedClient } from '../../../../reconciler/hosted/hosted-client.ts';
import { kubeletServingCertificates } from '../../../../reconciler/phases/workload/kubelet-serving-certificates.ts';
import { kubeletRequest } from '../../../support/kubelet-request.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { now, scopeOf } from '../../../support/scope.ts';

const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000).toISOString();
const lostOne = { name: 'n1', lastReport: new Date('2026-06-01T00:00:00Z') };

interface Situation {
  readonly joined?: string;
  readonly awake?: 'True' | 'False';
  /** When it woke up. */
  readonly since?: string;
  readonly hosted?: Partial<HostedClient>;
}

/** The outcome of the phase, and with what it asked for silent Nodes. */
async function run({ joined = minutesAgo(9_000), awake = 'True', since = minutesAgo(7), hosted }: Situation) {
  const asked: unknown[] = [];
  const client: Partial<HostedClient> = {
    certificateRequests: () => [],
    nodeMetadata: () => [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', creationTimestamp: joined } }],
    nodesSilentSince: async (...given) => {
      asked.push(given);
      return [lostOne];
    },
    ...hosted,
  };
  const conditions = [{ type: 'Awake', status: awake, reason: 'x', message: '', lastTransitionTime: since }];
  const scope = scopeOf(new MemoryObjects(), { facts: knownFacts, hosted: client, status: { conditions } });
  return { outcome: await kubeletServingCertificates.run(scope), asked };
}

describe('kubelets that do not come back after a hibernation', () => {
  it('are named with what a user can do, and looked at again', async () => {
    const { outcome } = await run({});
    expect(outcome).toMatchObject({
      kind: 'degraded',
      reason: 'KubeletCertificatesExpired',
      message: expect.stringMatching(
        /^Nodes n1 have not reported .* longest since 2026-06-01T00:00:00.000Z: .*Machines/,
      ),
      requeueAt: new Date('2026-11-21T12:10:00Z'),
    });
  });

  it('have a tenth of the validity of a certificate, which they renew before', async () => {
    const { asked } = await run({});
    expect(asked).toEqual([[new Date(minutesAgo(7)), 365 * 24 * 3_600_000 * 0.1]]);
  });

  it('have six minutes to come back', async () => {
    const { outcome, asked } = await run({ since: minutesAgo(5) });
    expect(outcome).toMatchObject({ kind: 'done', requeueAt: new Date('2026-11-21T12:01:00Z') });
    expect(asked).toEqual([]);
  });

  it('are not asked for without a hibernation: no Node is older than its control plane', async () => {
    const { outcome, asked } = await run({ joined: minutesAgo(6), since: minutesAgo(7) });
    expect(outcome).toMatchObject({ kind: 'done', requeueAt: undefined });
    expect(asked).toEqual([]);
  });

  it('are not asked for before the control plane is awake', async () => {
    expect(await run({ awake: 'False' })).toMatchObject({ outcome: { kind: 'done' }, asked: [] });
  });

  it('are named beside requests that the operator does not approve', async () => {
    const forged = await kubeletRequest({ name: 'forged', hosts: ['192.0.2.99'] });
    const { outcome } = await run({ hosted: { certificateRequests: () => [forged] } });
    expect(outcome).toMatchObject({
      reason: 'KubeletCertificatesExpired',
      message: expect.stringMatching(/^Nodes n1 .*CertificateSigningRequest forged /),
    });
  });

  it('are waited for while no API server answers, however many of them were read', async () => {
    const failure = () => new HostedClusterNotReady('the API server does not answer', 5_000, undefined);
    const nodesSilentSince = () => Promise.reject(new AggregateError([failure(), failure()]));
    const { outcome } = await run({ hosted: { nodesSilentSince } });
    expect(outcome).toMatchObject({ kind: 'wait', reason: 'WaitingForAPIServer', afterMs: 5_000 });
  });
});
