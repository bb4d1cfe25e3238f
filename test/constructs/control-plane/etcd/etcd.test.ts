import { describe, expect, it } from 'vitest';
import { namesOf } from '../../../../constructs/cluster/names.ts';
import { Rendered } from '../../../support/rendered-cluster.ts';

const etcd = (settings: object = {}, certificates: Record<string, string> = {}) =>
  new Rendered({ spec: { etcd: settings } }, { certificates });
const set = (rendered: Rendered) => rendered.object('StatefulSet', 'c1-etcd')['spec'] as Record<string, unknown>;

describe('etcd', () => {
  it.each([1, 3, 5])('with %i members has a file for each', (replicas) => {
    const rendered = etcd({ replicas });
    const files = Object.keys(rendered.object('ConfigMap', 'c1-etcd-members')['data'] as object);
    expect(files).toEqual(Array.from({ length: replicas }, (_, ordinal) => `c1-etcd-${ordinal}.yaml`));
    expect(set(rendered)['replicas']).toBe(replicas);
  });

  it('reads the file that has the name of its pod', () => {
    const [container] = etcd().workload('c1-etcd').containers;
    expect(container?.args).toEqual(['--config-file=/etc/etcd/members/$(POD_NAME).yaml']);
    expect(container?.env).toEqual([{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }]);
  });

  it('restarts no member when others are added or removed', () => {
    expect(etcd({ replicas: 5 }).workload('c1-etcd').template).toEqual(
      etcd({ replicas: 3 }).workload('c1-etcd').template,
    );
  });

  it('restarts for what it reads only at its start: its CA and its settings', () => {
    const { secrets } = namesOf('c1');
    const template = (...args: Parameters<typeof etcd>) => etcd(...args).workload('c1-etcd').template;
    expect(template({}, { [secrets.etcdCA]: 'new' })).not.toEqual(template());
    expect(template({ args: { 'election-timeout': '2500' } })).not.toEqual(template());
    expect(template({}, { [secrets.etcdServer]: 'new', [secrets.etcdPeer]: 'new' })).toEqual(template());
  });

  it('never loses its volumes to garbage collection', () => {
    expect(set(etcd())['persistentVolumeClaimRetentionPolicy']).toEqual({
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    });
  });

  it('starts all members at once, and publishes their addresses before they are ready', () => {
    expect(set(etcd())['podManagementPolicy']).toBe('Parallel');
    expect(etcd().object('Service', 'e-c1-etcd')['spec']).toMatchObject({
      clusterIP: 'None',
      publishNotReadyAddresses: true,
    });
    expect(etcd().object('Service', 'e-c1-etcd-client')['spec']).not.toHaveProperty('publishNotReadyAddresses');
  });

  it('uses the storage class and size of the user', () => {
    const [claim] = set(etcd({ storageClassName: 'ssd', autoGrow: false, volumeSize: '16Gi' }))[
      'volumeClaimTemplates'
    ] as {
      spec: unknown;
    }[];
    expect(claim?.spec).toEqual({
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'ssd',
      resources: { requests: { storage: '16Gi' } },
    });
  });

  it('survives the loss of its quorum: a running member is not restarted because of the others', () => {
    const [container] = etcd().workload('c1-etcd').containers;
    expect(container?.livenessProbe?.httpGet?.path).toBe('/livez');
    expect(container?.readinessProbe?.httpGet?.path).toBe('/readyz');
  });
});
