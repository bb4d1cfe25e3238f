import { describe, expect, it } from 'vitest';
import { PersistentVolumeClaim, StatefulSet } from '../../../constructs/api/resources.ts';
import { etcdVolumeSizeAnnotation } from '../../../constructs/control-plane/etcd/etcd.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { planVolumes } from '../../../reconciler/etcd/volume-size.ts';
import { growClaims, observeVolumes } from '../../../reconciler/etcd/volumes.ts';
import { errorFromStatus } from '../../../reconciler/kube/errors.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { clusterName, hostedCluster } from '../../support/scope.ts';

const labels = objectLabels(clusterName, 'etcd');

function readerOf(
  claims: readonly { readonly size: string; readonly phase?: string }[],
  noted?: string,
): MemoryObjects {
  const management = new MemoryObjects();
  for (const [ordinal, { size, phase = 'Bound' }] of claims.entries()) {
    const { apiVersion, kind } = PersistentVolumeClaim;
    management.put({
      apiVersion,
      kind,
      metadata: { name: `etcd-data-c1-etcd-${ordinal}`, labels },
      spec: { storageClassName: 'standard', resources: { requests: { storage: size } } },
      status: { phase, ...(phase === 'Bound' ? { capacity: { storage: size } } : {}) },
    });
  }
  const { apiVersion, kind } = StatefulSet;
  management.put({
    apiVersion,
    kind,
    metadata: { name: 'c1-etcd', labels, annotations: noted ? { [etcdVolumeSizeAnnotation]: noted } : {} },
    spec: { volumeClaimTemplates: [{ spec: { resources: { requests: { storage: '4Gi' } } } }] },
  });
  return management;
}

const planOf = (size: string) => ({ size, quotaSize: '4Gi', templateSize: '4Gi' });
const sizesIn = (management: MemoryObjects) =>
  observeVolumes(clusterName, management, undefined).claims.map(({ requested }) => requested);

describe('the volumes of etcd', () => {
  it('are observed with their request, their capacity, and the size the quota was set for', () => {
    const management = readerOf([{ size: '8Gi' }, { size: '4Gi', phase: 'Pending' }], '8Gi');
    expect(observeVolumes(clusterName, management, undefined)).toEqual({
      claims: [
        { requested: '8Gi', capacity: '8Gi' },
        { requested: '4Gi', capacity: undefined },
      ],
      templateSize: '4Gi',
      quotaSize: '8Gi',
      usedBytes: undefined,
      fileBytes: undefined,
    });
  });

  it.each([undefined, 'large', '-1Gi'])('with annotation %s have the quota of the template', (noted) => {
    expect(observeVolumes(clusterName, readerOf([], noted), undefined).quotaSize).toBe('4Gi');
  });

  it('grow if they are smaller and bound, and nothing else is written', async () => {
    const management = readerOf([{ size: '4Gi' }, { size: '8Gi' }, { size: '4Gi', phase: 'Pending' }]);
    expect(await growClaims(clusterName, planOf('8Gi'), { reader: management, writer: management })).toBeUndefined();
    expect(management.writes).toEqual(['set volume-size of PersistentVolumeClaim etcd-data-c1-etcd-0']);
    expect(sizesIn(management)).toEqual(['8Gi', '8Gi', '4Gi']);
    await growClaims(clusterName, planOf('8Gi'), { reader: management, writer: management });
    expect(management.writes).toHaveLength(1);
  });

  it('continue to grow after the operator dies in between', async () => {
    const management = readerOf([{ size: '4Gi' }, { size: '4Gi' }, { size: '4Gi' }], '4Gi');
    management.dieAfter(1);
    await expect(growClaims(clusterName, planOf('8Gi'), { reader: management, writer: management })).rejects.toThrow(
      'before set',
    );
    management.restart();
    const plan = planVolumes(hostedCluster(), observeVolumes(clusterName, management, undefined));
    await growClaims(clusterName, plan, { reader: management, writer: management });
    expect(sizesIn(management)).toEqual(['8Gi', '8Gi', '8Gi']);
  });

  it.each([
    [
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      /etcd-data-c1-etcd-0 cannot grow from 4Gi to 8Gi: set allowVolumeExpansion: true in StorageClass standard/,
    ],
    ['exceeded quota: storage, requested: requests.storage=4Gi', /exceeded quota: storage.*raise that ResourceQuota/],
  ])('that cannot grow are reported in words for the user: %s', async (message, expected) => {
    const management = readerOf([{ size: '4Gi' }]);
    management.refuse(() => errorFromStatus('apply', 403, { code: 403, reason: 'Forbidden', message }));
    expect(await growClaims(clusterName, planOf('8Gi'), { reader: management, writer: management })).toMatchObject({
      reason: 'VolumeNotExpandable',
      message: expect.stringMatching(expected),
    });
  });

  it.each([
    [403, 'maximum storage usage per PersistentVolumeClaim is 4Gi, but request is 8Gi'],
    [403, 'cannot patch resource'],
    [422, 'spec.resources: Forbidden'],
  ])('that an API server refuses to grow with %i in any words are told in these', async (code, message) => {
    const management = readerOf([{ size: '4Gi' }]);
    management.refuse(() => errorFromStatus('apply', code, { code, message }));
    expect(await growClaims(clusterName, planOf('8Gi'), { reader: management, writer: management })).toEqual({
      reason: 'VolumeNotExpandable',
      message: `volume claim etcd-data-c1-etcd-0 cannot grow from 4Gi to 8Gi: apply: ${message}: allow it, or set etcd.maxVolumeSize to 4Gi`,
    });
  });

  it('that the API server does not answer for are tried again', async () => {
    const management = readerOf([{ size: '4Gi' }]);
    management.refuse(() => errorFromStatus('apply', 503, { code: 503, message: 'unavailable' }));
    const growing = growClaims(clusterName, planOf('8Gi'), { reader: management, writer: management });
    await expect(growing).rejects.toThrow('unavailable');
  });
});
