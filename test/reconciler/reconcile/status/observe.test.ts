import { expect, it } from 'vitest';
import { observe } from '../../../../reconciler/reconcile/status/observe.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { scopeOf } from '../../../support/scope.ts';

it.each([
  ['as the phase of etcd found it', '8Gi', '4Gi', '8Gi'],
  ['as before, while that phase waits for others', undefined, '8Gi', '8Gi'],
  ['that of the spec, before there are volumes', undefined, undefined, '4Gi'],
])('the size of volumes is %s', (_, found, before, reported) => {
  const scope = scopeOf(new MemoryObjects());
  const { hostedControlPlane } = scope;
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
  const subject = { ...scope, hostedControlPlane: { ...hostedControlPlane, status }, facts };
  const { etcdVolumeSize } = observe(subject, { phases: {}, report: {}, etcdReport: undefined });
  expect(etcdVolumeSize).toBe(reported);
});
