import { expect, it } from 'vitest';
import { observe } from '../../../reconciler/status/observe.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { scopeOf } from '../../support/scope.ts';

it.each([
  ['as the phase of etcd found it', '8Gi', '4Gi', '8Gi'],
  ['as before, while that phase waits for others', undefined, '8Gi', '8Gi'],
  ['that of the spec, before there are volumes', undefined, undefined, '4Gi'],
])('the size of volumes is %s', (_, found, before, reported) => {
  const { cluster, hostedControlPlane, reader } = scopeOf(new MemoryObjects());
  const status = { ...hostedControlPlane.status, etcdVolumeSize: before };
  const etcd = {
    isFormed: true,
    pods: 3,
    initialClusters: {},
    founders: [],
    templateVolumeSize: '4Gi',
    templateStorageClass: undefined,
  };
  const facts = found === undefined ? {} : { etcd: { ...etcd, volumeSize: found } };
  const { etcdVolumeSize } = observe(cluster, { ...hostedControlPlane, status }, reader, {}, facts, {}, undefined);
  expect(etcdVolumeSize).toBe(reported);
});
