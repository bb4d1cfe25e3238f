import { expect, it } from 'vitest';
import { ConfigMap, Deployment, Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { binariesAnnotation, versionAnnotation } from '../../../constructs/pod/component.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { apiServer } from '../../../reconciler/phases/api-server.ts';
import { settle } from '../../support/management-controllers.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const facts = { endpoint: { host: '192.0.2.10', port: 6443 } };
const applied = 'apply Deployment c1-api-server';

const runIn = (management: MemoryObjects, changes: ScopeChanges = {}): Promise<Outcome> =>
  apiServer.run(scopeOf(management, { facts, ...changes }));

/** A cluster in which this many etcd members run. */
function withMembers(started: number): MemoryObjects {
  const management = new MemoryObjects();
  for (let ordinal = 0; ordinal < 3; ordinal++) {
    const state = ordinal < started ? { running: {} } : { waiting: {} };
    management.put({
      apiVersion: Pod.apiVersion,
      kind: Pod.kind,
      metadata: { name: `c1-etcd-${ordinal}`, labels: selectorLabels('c1', 'etcd') },
      status: { containerStatuses: [{ name: 'etcd', state }] },
    });
  }
  return management;
}

it.each<[number, object, boolean]>([
  [
    1,
    {
      kind: 'wait',
      reason: 'WaitingForEtcd',
      message: '1 of 3 etcd members have started, but a quorum needs 2: see the condition EtcdClusterReady',
    },
    false,
  ],
  [2, { kind: 'wait', reason: 'WaitingForPods' }, true],
])('starts when a quorum of etcd has started: %d of 3', async (started, outcome, starts) => {
  const management = withMembers(started);
  expect(await runIn(management)).toMatchObject(outcome);
  expect(management.writes.includes(applied)).toBe(starts);
});

it('is updated although etcd is unhealthy, once it exists', async () => {
  const management = withMembers(3);
  await runIn(management);
  for (const pod of management.list(Pod, {})) management.remove(pod);
  management.writes.length = 0;
  await runIn(management, { spec: { version: 'v1.36.4' } });
  expect(management.writes).toContain(applied);
});

it('is done when all replicas run what the spec requests, and not before', async () => {
  const management = withMembers(3);
  expect(await runIn(management)).toMatchObject({
    reason: 'WaitingForPods',
    message: expect.stringContaining('API server: ') as string,
  });
  settle(management);
  expect(await runIn(management)).toMatchObject({ kind: 'done' });
  expect(await runIn(management, { spec: { version: 'v1.36.4' } })).toMatchObject({
    kind: 'degraded',
    reason: 'WaitingForPods',
  });
});

const emulating = { [versionAnnotation]: 'v1.36.3', [binariesAnnotation]: 'v1.37.1' };
it.each<[string, Record<string, string>, object, object]>([
  [
    'of another version terminates',
    { [versionAnnotation]: 'v1.35.6' },
    {},
    { kind: 'degraded', reason: 'WaitingForPods' },
  ],
  ['that emulates it terminates', emulating, {}, { kind: 'degraded', reason: 'WaitingForPods' }],
  ['of another version was evicted', { [versionAnnotation]: 'v1.35.6' }, { phase: 'Failed' }, { kind: 'done' }],
  ['of the same version terminates', { [versionAnnotation]: 'v1.36.3' }, {}, { kind: 'done' }],
])('is rolled out unless a pod %s', async (_, annotations, status, expected) => {
  const management = withMembers(3);
  await runIn(management);
  settle(management);
  const labels = selectorLabels('c1', 'api-server');
  const metadata = { name: 'c1-api-server-old', labels, annotations, deletionTimestamp: now.toISOString() };
  management.put({ apiVersion: Pod.apiVersion, kind: Pod.kind, metadata, status });
  expect(await runIn(management)).toMatchObject(expected);
});

const mounts = (optional: boolean): ScopeChanges => ({
  spec: {
    deployment: { apiServer: { mounts: { policy: { path: '/etc/policy', configMap: { name: 'policy', optional } } } } },
  },
});
const policy = (text: string): StoredObject => ({
  apiVersion: ConfigMap.apiVersion,
  kind: ConfigMap.kind,
  metadata: { name: 'policy' },
  data: { text },
});

it('waits for an object that a user mounts, and requeues because no event reports it', async () => {
  const management = withMembers(3);
  expect(await runIn(management, mounts(false))).toMatchObject({
    kind: 'wait',
    reason: 'MountMissing',
    message:
      'the API server mounts ConfigMap/policy, which does not exist: create it, or set optional: true in deployment.apiServer.mounts',
    afterMs: 30_000,
  });
  expect(management.writes).toEqual([]);
  management.put(policy('one'));
  await runIn(management, mounts(false));
  expect(management.writes).toContain(applied);
});

it('does not wait for an optional mount', async () => {
  const management = withMembers(3);
  await runIn(management, mounts(true));
  expect(management.writes).toContain(applied);
});

it.each<[string, StoredObject, boolean]>([
  ['replaces its pods when the content', policy('two'), true],
  [
    'does nothing when another field',
    { ...policy('one'), metadata: { name: 'policy', annotations: { touched: 'yes' } } },
    false,
  ],
])('%s of a mounted object changes', async (_, changed, replaces) => {
  const management = withMembers(3);
  management.put(policy('one'));
  await runIn(management, mounts(false));
  const before = management.get(Deployment, 'c1-api-server')?.metadata.generation ?? 0;
  management.put(changed);
  await runIn(management, mounts(false));
  expect(management.get(Deployment, 'c1-api-server')?.metadata.generation).toBe(before + (replaces ? 1 : 0));
});
