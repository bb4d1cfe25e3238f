import { expect, it } from 'vitest';
import { Deployment } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { versionAnnotation } from '../../../constructs/pod/component.ts';
import { defaultsFor, etcdVersion } from '../../../constructs/cluster/versions.ts';

import { MemoryObjects } from '../../support/memory-objects.ts';
import { clusterName, now, scopeOf } from '../../support/scope.ts';

/** A control plane whose API servers are rendered for this version. */
function rendered(version: string): MemoryObjects {
  const management = new MemoryObjects();
  const { apiVersion, kind } = Deployment;
  const labels = objectLabels(clusterName, 'api-server');
  const template = { metadata: { annotations: { [versionAnnotation]: version } } };
  management.put({ apiVersion, kind, metadata: { name: 'c1-api-server', labels }, spec: { template } });
  return management;
}

function held(
  from: string,
  to: string,
  { beforeUpgrade = true, takenFor = [] as string[], isChecked = true, running = [] as string[] } = {},
) {
  const backup = { schedule: '@daily', secret: { name: 's3' }, beforeUpgrade };
  const changes = {
    spec: { version: to, etcd: { replicas: 3, backup }, upgrade: { hold: '0s' } },
    status: {
      etcd: { backup: { takenFor } },
      versions: running.map((one) => ({ version: one, replicas: 1 })),
      ...(isChecked ? { preflight: { version: to, succeeded: now.toISOString() } } : {}),
    },
  };
  const { spec } = scopeOf(rendered(from), changes).cluster;
  return [spec.version, etcdVersion({ spec })];
}

it.each<[string, ReturnType<typeof held>, string]>([
  ['waits for its backup', held('v1.34.1', 'v1.35.6'), 'v1.34.1'],
  ['changes when the backup exists', held('v1.34.1', 'v1.35.6', { takenFor: ['Kubernetes 1.34 to 1.35'] }), 'v1.35.6'],
  ['waits for no backup of another change', held('v1.34.1', 'v1.35.6', { takenFor: ['etcd 3.5 to 3.6'] }), 'v1.34.1'],
  ['waits for its checks', held('v1.34.1', 'v1.35.6', { beforeUpgrade: false, isChecked: false }), 'v1.34.1'],
  [
    'changes after its checks without backups before upgrades',
    held('v1.34.1', 'v1.35.6', { beforeUpgrade: false }),
    'v1.35.6',
  ],
  ['goes back at once while nothing of it runs', held('v1.35.6', 'v1.34.1', { running: ['v1.34.1'] }), 'v1.34.1'],
  [
    'waits for a restore to go back from one that runs',
    held('v1.35.6', 'v1.34.1', { running: ['v1.34.1', 'v1.35.6'] }),
    'v1.35.6',
  ],
  ['goes back at once if only the patch changes', held('v1.35.6', 'v1.35.1', { running: ['v1.35.6'] }), 'v1.35.1'],
  ['changes at once if only the patch changes', held('v1.35.1', 'v1.35.6', { isChecked: false }), 'v1.35.6'],
])('the version of Kubernetes %s, and the default of etcd with it', (_, [version, ofEtcd], expected) => {
  expect(version).toBe(expected);
  expect(ofEtcd).toBe(defaultsFor(expected).etcd);
});
