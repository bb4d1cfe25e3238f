import { describe, expect, it } from 'vitest';
import { skipPreflightAnnotation } from '../../../constructs/api/group.ts';
import { Deployment, Pod } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { upgradePreflight } from '../../../reconciler/phases/upgrade-preflight.ts';
import { HostedClusterNotReady } from '../../../reconciler/clusters/hosted/outage.ts';
import type { HostedClient } from '../../../reconciler/clusters/hosted/hosted-client.ts';
import type { KubernetesApi } from '../../../reconciler/kube/client.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { now, type ScopeChanges, scopeOf } from '../../support/scope.ts';
import { conditionOf } from '../desired-state/upgrade/preflight/conditions.ts';

/** The hosted cluster, with kubelets of a version. */
function hostedWith(kubeletVersion: string): Partial<HostedClient> {
  const client = {
    list: () => Promise.resolve({ items: [{ metadata: { name: 'node' }, status: { nodeInfo: { kubeletVersion } } }] }),
    apply: (object: unknown) => Promise.resolve(object),
    raw: () => Promise.resolve(''),
  } as unknown as KubernetesApi;
  return {
    asAdministrator: (work) => work(client),
    at: (_address, _identity, work) => work(client),
  };
}

/** A control plane of 1.35. */
function running(): MemoryObjects {
  const created = new MemoryObjects();
  const labels = objectLabels('c1', 'api-server');
  const annotations = { 'controlplane.cluster.x-k8s.io/version': 'v1.35.8' };
  const named = ({ apiVersion, kind }: typeof Pod, name: string) => ({ apiVersion, kind, metadata: { name, labels } });
  created.put({ ...named(Deployment, 'c1-api-server'), spec: { template: { metadata: { annotations } } } });
  const ready = [{ type: 'Ready', status: 'True' }];
  created.put({ ...named(Pod, 'c1-api-server-x'), status: { podIP: '10.0.0.1', conditions: ready } });
  return created;
}

const conditions = [conditionOf('EtcdClusterHealthy', 'True')];
const toNewest: ScopeChanges = { spec: { version: 'v1.36.3' }, status: { conditions } };
const run = (changes: ScopeChanges) => upgradePreflight.run(scopeOf(running(), { ...toNewest, ...changes }));
const versionWith = (changes: ScopeChanges) => scopeOf(running(), { ...toNewest, ...changes }).cluster.spec.version;

describe('an upgrade to the next minor', () => {
  it('keeps the version that runs until its checks have succeeded', async () => {
    expect(versionWith({})).toBe('v1.35.8');
    const outcome = await run({ hosted: hostedWith('v1.35.8') });
    expect(outcome).toMatchObject({
      kind: 'done',
      report: { preflight: { version: 'v1.36.3', succeeded: now.toISOString() } },
    });
    const spec = { ...toNewest.spec, upgrade: { hold: '0s' } };
    expect(versionWith({ spec, status: { ...outcome.report } })).toBe('v1.36.3');
  });

  it.each([
    ['for another version', { version: 'v1.36.0', succeeded: now.toISOString() }],
    ['long ago', { version: 'v1.36.3', succeeded: new Date(now.getTime() - 5 * 60_000).toISOString() }],
  ])('does not begin by checks that succeeded %s', (_, preflight) => {
    expect(versionWith({ status: { preflight } })).toBe('v1.35.8');
  });

  it('is held by what a check finds, with what to do and how to skip it', async () => {
    const outcome = await run({ hosted: hostedWith('v1.32.0') });
    expect(outcome).toMatchObject({ kind: 'degraded', reason: 'NodesUnsuitable' });
    expect(outcome).toMatchObject({
      message: expect.stringMatching(
        /^the change of Kubernetes 1\.35 to 1\.36 is held: .* node \(v1\.32\.0\): upgrade .* \(nodes\); to skip checks, name them in the annotation .*skip-preflight$/,
      ),
    });
    expect(outcome.report).toBeUndefined();
  });

  it('begins in spite of it if the annotation names the check, and the status has what was skipped', async () => {
    const annotations = { [skipPreflightAnnotation]: 'webhooks, nodes' };
    expect(await run({ hosted: hostedWith('v1.32.0'), annotations })).toMatchObject({
      kind: 'done',
      report: { preflight: { skipped: [expect.stringContaining('node (v1.32.0)')] } },
    });
  });

  it('is held until etcd has been observed', async () => {
    expect(await run({ hosted: hostedWith('v1.35.8'), status: {} })).toMatchObject({
      kind: 'degraded',
      reason: 'EtcdNotHealthy',
      message: expect.stringContaining('the operator has not observed its health yet'),
    });
  });

  it('is not begun by a name that is no check, and the message says which there are', async () => {
    const annotations = { [skipPreflightAnnotation]: 'node' };
    expect(await run({ hosted: hostedWith('v1.32.0'), annotations })).toMatchObject({
      kind: 'degraded',
      message: expect.stringContaining(
        'there is no check node, only nodes, removed-apis, webhooks, etcd, backup, configuration',
      ),
    });
  });

  it('asks nothing once it has succeeded, and nothing without a change of the minor', async () => {
    const preflight = { version: 'v1.36.3', succeeded: now.toISOString() };
    expect(await run({ status: { preflight } })).toMatchObject({ kind: 'done', report: undefined });
    expect(await run({ spec: { version: 'v1.35.9' } })).toMatchObject({ kind: 'done', report: undefined });
    expect(versionWith({ spec: { version: 'v1.35.9' } })).toBe('v1.35.9');
  });

  it('waits while no API server answers, and says how to upgrade one that never will', async () => {
    const hosted = { asAdministrator: fails, at: fails };
    expect(await run({ hosted })).toMatchObject({
      kind: 'wait',
      reason: 'CheckingUpgrade',
      message: expect.stringMatching(/connection refused; .*skip-preflight: nodes,removed-apis,webhooks$/),
    });
    const annotations = { [skipPreflightAnnotation]: 'nodes,removed-apis,webhooks' };
    expect(await run({ hosted, annotations })).toMatchObject({
      kind: 'done',
      report: { preflight: { skipped: [expect.stringContaining('connection refused')] } },
    });
  });
});

const fails = () => Promise.reject(new HostedClusterNotReady('connection refused', 1_000, undefined));
