import { describe, expect, it } from 'vitest';
import { quantityValue } from '../../../constructs/api/quantity.ts';
import { etcdMaxVolumeSize, etcdQuotaBytes } from '../../../constructs/control-plane/etcd/config.ts';
import {
  formatBytes,
  growAbove,
  planVolumes,
  warnAbove,
  type Volumes,
  volumeUsage,
} from '../../../reconciler/etcd/volume-size.ts';
import { hostedCluster } from '../../support/scope.ts';

const Gi = 1024 ** 3;
const grown = (size: string) => ({ requested: size, capacity: size });
const clusterWith = (etcd: object) => hostedCluster({ etcd });
const none: Volumes = {
  claims: [],
  templateSize: undefined,
  quotaSize: undefined,
  usedBytes: undefined,
  fileBytes: undefined,
};
/** Three volumes of this size. */
const three = (size: string, changes: Partial<Volumes> = {}): Volumes => ({
  claims: [grown(size), grown(size), grown(size)],
  templateSize: '4Gi',
  quotaSize: size,
  usedBytes: 0,
  fileBytes: 0,
  ...changes,
});

interface Case {
  readonly name: string;
  readonly etcd?: object;
  readonly volumes: Volumes;
  readonly size: string;
  readonly quotaSize?: string;
  readonly templateSize?: string;
  readonly problem?: RegExp;
}

const small = { autoGrow: false, volumeSize: '1Gi' };

const cases: readonly Case[] = [
  { name: 'a new cluster starts small', volumes: none, size: '4Gi', templateSize: '4Gi' },
  {
    name: 'a new cluster starts with the specified size',
    etcd: small,
    volumes: none,
    size: '1Gi',
    templateSize: '1Gi',
  },
  {
    name: 'a new cluster starts with its maximum if that is smaller',
    etcd: { maxVolumeSize: '1Gi' },
    volumes: none,
    size: '1Gi',
  },
  {
    name: 'a new cluster has room for the quota of the user',
    etcd: { args: { 'quota-backend-bytes': String(6 * Gi) } },
    volumes: none,
    size: '12Gi',
  },
  { name: 'volumes with little data stay', volumes: three('4Gi', { usedBytes: Gi }), size: '4Gi' },
  { name: 'volumes with unknown use stay', volumes: three('4Gi', { usedBytes: undefined }), size: '4Gi' },
  {
    name: 'volumes stay while exactly the growth threshold is used',
    volumes: three('4Gi', { usedBytes: growAbove * 2 * Gi }),
    size: '4Gi',
  },
  {
    name: 'volumes double before the quota is reached, and the quota waits for them',
    volumes: three('4Gi', { usedBytes: 1.3 * Gi }),
    size: '8Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'volumes grow to the maximum if that is less than twice the size',
    etcd: { maxVolumeSize: '6Gi' },
    volumes: three('4Gi', { usedBytes: 1.3 * Gi }),
    size: '6Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'the use of growing volumes is measured by their target size, so that they do not grow again and again',
    volumes: three('8Gi', { claims: [{ requested: '8Gi', capacity: '4Gi' }], quotaSize: '4Gi', usedBytes: 1.9 * Gi }),
    size: '8Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'claims that a killed process did not resize are resized',
    volumes: three('4Gi', { claims: [grown('8Gi'), grown('4Gi')], usedBytes: 1.3 * Gi }),
    size: '8Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'the quota follows when all volumes have grown',
    volumes: three('8Gi', { quotaSize: '4Gi', usedBytes: 1.9 * Gi }),
    size: '8Gi',
  },
  {
    name: 'a claim recreated from the template grows, and the quota of the others stays',
    volumes: three('8Gi', { claims: [grown('8Gi'), grown('8Gi'), grown('4Gi')] }),
    size: '8Gi',
    quotaSize: '8Gi',
  },
  {
    name: 'a claim that waits for its volume does not reduce the quota',
    volumes: three('8Gi', { claims: [grown('8Gi'), { requested: '8Gi', capacity: undefined }] }),
    size: '8Gi',
    quotaSize: '8Gi',
  },
  {
    name: 'volumes that their provisioner rounds up are large enough',
    volumes: three('4Gi', { claims: [{ requested: '4Gi', capacity: '5Gi' }] }),
    size: '4Gi',
  },
  {
    name: 'a deleted StatefulSet is recreated for the volumes that are left',
    volumes: { ...none, claims: [grown('8Gi'), grown('8Gi')] },
    size: '8Gi',
    templateSize: '8Gi',
  },
  {
    name: 'volumes that were all lost are recreated with their size',
    volumes: { ...none, templateSize: '4Gi', quotaSize: '8Gi' },
    size: '8Gi',
    templateSize: '4Gi',
  },
  {
    name: 'an annotation written by another client does not make them larger than specified',
    volumes: three('4Gi', { quotaSize: '1Pi' }),
    size: '4Gi',
  },
  {
    name: 'a maximum below the current size changes nothing',
    etcd: { maxVolumeSize: '2Gi' },
    volumes: three('4Gi', { usedBytes: 0.5 * Gi }),
    size: '4Gi',
  },
  {
    name: 'at the maximum a problem is reported before they are full',
    etcd: { maxVolumeSize: '4Gi' },
    volumes: three('4Gi', { usedBytes: 1.7 * Gi }),
    size: '4Gi',
    problem: /1741 MiB of the 2048 MiB that volumes of 4Gi allow.*raise etcd.maxVolumeSize, or delete/,
  },
  {
    name: 'at the maximum no problem is reported while exactly the warning threshold is used',
    etcd: { maxVolumeSize: '4Gi' },
    volumes: three('4Gi', { usedBytes: warnAbove * 2 * Gi }),
    size: '4Gi',
  },
  {
    name: 'volumes that were all lost are recreated with the size in the template if no quota is known',
    volumes: { ...none, templateSize: '8Gi' },
    size: '8Gi',
  },
  {
    name: 'the quota stays while there is no claim',
    volumes: { ...none, templateSize: '4Gi', quotaSize: '4Gi', usedBytes: 1.3 * Gi },
    size: '8Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'an unknown quota is set for the smallest existing volume',
    volumes: {
      ...three('8Gi'),
      claims: [grown('4Gi'), { requested: '8Gi', capacity: undefined }],
      quotaSize: undefined,
    },
    size: '8Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'etcd holds 8 GiB and no larger volume helps',
    etcd: { maxVolumeSize: '64Gi' },
    volumes: three('16Gi', { usedBytes: 7 * Gi }),
    size: '16Gi',
    problem: /further: delete objects/,
  },
  {
    name: 'without autoGrow a problem is reported before they are full',
    etcd: small,
    volumes: { ...three('1Gi', { usedBytes: 0.45 * Gi }), templateSize: '1Gi' },
    size: '1Gi',
    templateSize: '1Gi',
    problem: /raise etcd.volumeSize/,
  },
  {
    name: 'without autoGrow they grow to the specified size',
    etcd: { autoGrow: false, volumeSize: '10Gi' },
    volumes: three('4Gi'),
    size: '10Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'they never shrink, and the message names both sizes',
    etcd: small,
    volumes: three('4Gi'),
    size: '4Gi',
    problem: /etcd.volumeSize is 1Gi, but the volumes have 4Gi/,
  },
];

describe("the size of etcd's volumes", () => {
  it.each(cases)('$name', ({ etcd = {}, volumes, size, quotaSize = size, templateSize = size, problem = /^$/ }) => {
    const { problem: reported, ...plan } = planVolumes(clusterWith(etcd), volumes);
    expect(plan).toEqual({ size, quotaSize, templateSize: volumes.templateSize ?? templateSize });
    expect(reported?.message ?? '').toMatch(problem);
  });

  it('never shrinks, and exceeds the maximum only if it did before', () => {
    const sizes = ['1Gi', '3Gi', '4Gi', '10G', '16Gi', '32Gi'];
    for (const maxVolumeSize of [undefined, ...sizes]) {
      const cluster = clusterWith(maxVolumeSize ? { maxVolumeSize } : {});
      const maximum = quantityValue(etcdMaxVolumeSize(cluster.spec.etcd));
      for (const claim of sizes)
        for (const other of sizes)
          for (const configured of [undefined, ...sizes])
            for (const used of [undefined, 0, 1, 4, 9]) {
              const { size, quotaSize } = planVolumes(cluster, {
                claims: [grown(claim), grown(other)],
                templateSize: claim,
                quotaSize: configured,
                usedBytes: used === undefined ? undefined : used * Gi,
                fileBytes: undefined,
              });
              const present = Math.max(quantityValue(claim), quantityValue(other));
              expect(quantityValue(size)).toBeGreaterThanOrEqual(present);
              expect(quantityValue(size)).toBeLessThanOrEqual(Math.max(present, maximum));
              expect(quantityValue(quotaSize)).toBeLessThanOrEqual(quantityValue(size));
              expect(2 * etcdQuotaBytes(cluster, quotaSize)).toBeLessThanOrEqual(quantityValue(size));
            }
    }
  });
});

describe('the use of volumes', () => {
  it.each([
    [0, undefined, '0'],
    [1, undefined, '256Mi'],
    [Gi / 4, undefined, '256Mi'],
    [Gi / 4 + 1, undefined, '512Mi'],
    [1.9 * Gi, undefined, '2Gi'],
    [1.6 * Gi, '2Gi', '2Gi'],
    [1.5 * Gi, '2Gi', '1536Mi'],
    [2.1 * Gi, '2Gi', '2304Mi'],
  ])('of %d bytes of 4Gi after %s is reported as %s', (bytes, previous, text) => {
    expect(volumeUsage(bytes, '4Gi', previous)).toBe(text);
  });

  it('that equals the last report is not rounded again', () => {
    expect(volumeUsage(300 * 1024 ** 2, '4Gi', '300Mi')).toBe('300Mi');
  });

  it.each([
    [1024 * Gi, '1Ti'],
    [3 * Gi, '3Gi'],
    [1.5 * Gi, '1536Mi'],
    [10e9, '9765625Ki'],
    [1023, '1023'],
  ])('%d is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
