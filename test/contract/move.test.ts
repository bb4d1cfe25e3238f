import { beforeAll, describe, expect, it } from 'vitest';
import {
  ConfigMap,
  HostedControlPlane,
  PersistentVolumeClaim,
  Secret,
  StatefulSet,
} from '../../constructs/api/resources.ts';
import { isMoved } from '../support/loop/clusterctl-move.ts';
import { type MemoryCluster, ourName } from '../support/loop/memory-cluster.ts';
import { runControllers } from '../support/memory-cluster/controllers/controllers.ts';
import { completeCluster } from '../support/loop/scenario.ts';
import { namespace } from '../support/scope.ts';

const user = { fieldManager: 'user' };

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster({ encryptionAtRest: {}, etcd: { replicas: 3 } });
});

describe('a move by clusterctl', () => {
  it('takes every Secret and ConfigMap of the operator along', () => {
    const all = complete.objects.objects;
    const kept = all.filter(({ kind }) => kind === Secret.kind || kind === ConfigMap.kind);
    expect(kept.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['c1-ca', 'c1-sa', 'c1-encryption', 'c1-revision-1']),
    );
    expect(kept.filter((object) => !isMoved(object, all)).map(({ metadata }) => metadata.name)).toEqual([]);
  });

  it('takes the CA of a user along, which has no owner', () => {
    const metadata = { name: 'c1-ca', namespace };
    expect(isMoved({ apiVersion: 'v1', kind: 'Secret', metadata }, [])).toBe(true);
    expect(isMoved({ apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name: 'bucket' } }, [])).toBe(false);
  });

  it('loses no volume of etcd with its owner', async () => {
    const management = complete.copy();
    const claims = () => management.objects.list(PersistentVolumeClaim, {}).map(({ metadata }) => metadata.name);
    const before = claims();
    expect(before).toHaveLength(3);
    expect(management.objects.get(StatefulSet, 'c1-etcd')).toMatchObject({
      spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain' } },
    });
    // clusterctl deletes the object on the side that it leaves, and removes its finalizers first.
    const metadata = { finalizers: null, annotations: { 'clusterctl.cluster.x-k8s.io/delete-for-move': '' } };
    await management.user.mergePatch(HostedControlPlane, ourName, { metadata }, user);
    await management.user.delete(HostedControlPlane, ourName);
    runControllers(management.management);
    expect(management.objects.get(StatefulSet, 'c1-etcd')).toBeUndefined();
    expect(claims()).toEqual(before);
  });
});

describe('a control plane', () => {
  it('has all its state in its own namespace', () => {
    const elsewhere = complete.management.writes.filter(
      (write) => !write.includes(` ${namespace}/`) && !/ (Namespace|CustomResourceDefinition) /.test(write),
    );
    expect(complete.management.writes.length).toBeGreaterThan(50);
    expect(elsewhere).toEqual([]);
  });
});
