import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { parseHostedControlPlane } from '../../../constructs/api/parse-manifest.ts';
import { parseRecoveryBundle, serializeRecoveryBundle } from '../../../reconciler/backup/recovery-bundle.ts';
import { rebuildManifest } from '../../../reconciler/cli/rebuild.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { scopeOf } from '../../support/scope.ts';

const { hostedControlPlane, clusterObject } = scopeOf(new MemoryObjects(), {
  clusterSpec: { controlPlaneEndpoint: { host: 'api.example.org', port: 6443 } },
});
const bundle = parseRecoveryBundle(serializeRecoveryBundle({ hostedControlPlane, clusterObject, secrets: [] }));
const backup = '2026-11-21T09-15-31.123Z-4711';
const owner = { namespace: 'team', cluster: 'c1' };

it('rebuilds Cluster and HostedControlPlane in the requested namespace, with data and CAs', () => {
  const [cluster, controlPlane] = parseAllDocuments(rebuildManifest(bundle, { namespace: 'new', owner, backup })).map(
    (document) => document.toJS() as KubeObject,
  );
  expect(cluster).toMatchObject({
    kind: 'Cluster',
    metadata: { namespace: 'new', name: 'c1' },
    spec: { controlPlaneEndpoint: { host: 'api.example.org', port: 6443 } },
  });
  expect(controlPlane).toMatchObject({
    metadata: { namespace: 'new' },
    spec: { version: 'v1.36.3', etcd: { replicas: 3, restore: { backup, from: { ...owner, identity: true } } } },
  });
  expect(parseHostedControlPlane(controlPlane)).toMatchObject({ valid: true });
});
