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
const none: Volumes = { claims: [], templateSize: undefined, quotaSize: undefined, usedBytes: undefined };
/** Three volumes of this size. */
const three = (size: string, changes: Partial<Volumes> = {}): Volumes => ({
  claims: [grown(size), grown(size), grown(size)],
  templateSize: '4Gi',
  quotaSize: size,
  usedBytes: 0,
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
  { name: 'a new cluster begins small', volumes: none, size: '4Gi', templateSize: '4Gi' },
  { name: 'a new cluster begins as the user says', etcd: small, volumes: none, size: '1Gi', templateSize: '1Gi' },
  {
    name: 'a new cluster begins with its maximum when that is smaller',
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
  { name: 'what is little used stays', volumes: three('4Gi', { usedBytes: Gi }), size: '4Gi' },
  { name: 'what nobody can tell the use of stays', volumes: three('4Gi', { usedBytes: undefined }), size: '4Gi' },
  {
    name: 'volumes stay while just the share is used above which they grow',
    volumes: three('4Gi', { usedBytes: growAbove * 2 * Gi }),
    size: '4Gi',
  },
  {
    name: 'volumes double before the quota is hit, and the quota waits for them',
    volumes: three('4Gi', { usedBytes: 1.3 * Gi }),
    size: '8Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'volumes grow to the maximum where that is less than twice as much',
    etcd: { maxVolumeSize: '6Gi' },
    volumes: three('4Gi', { usedBytes: 1.3 * Gi }),
    size: '6Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'growth that has begun is measured by where it leads, so that it does not go on and on',
    volumes: three('8Gi', { claims: [{ requested: '8Gi', capacity: '4Gi' }], quotaSize: '4Gi', usedBytes: 1.9 * Gi }),
    size: '8Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'claims that a killed process did not come to follow',
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
    name: 'a claim made anew from the template grows, and the quota of the others stays',
    volumes: three('8Gi', { claims: [grown('8Gi'), grown('8Gi'), grown('4Gi')] }),
    size: '8Gi',
    quotaSize: '8Gi',
  },
  {
    name: 'a claim that waits for its volume does not take the quota back',
    volumes: three('8Gi', { claims: [grown('8Gi'), { requested: '8Gi', capacity: undefined }] }),
    size: '8Gi',
    quotaSize: '8Gi',
  },
  {
    name: 'volumes that are rounded up by their provisioner are large enough',
    volumes: three('4Gi', { claims: [{ requested: '4Gi', capacity: '5Gi' }] }),
    size: '4Gi',
  },
  {
    name: 'a StatefulSet that somebody deleted is made for the volumes that are left',
    volumes: { ...none, claims: [grown('8Gi'), grown('8Gi')] },
    size: '8Gi',
    templateSize: '8Gi',
  },
  {
    name: 'volumes that were all lost are made as large as they were',
    volumes: { ...none, templateSize: '4Gi', quotaSize: '8Gi' },
    size: '8Gi',
    templateSize: '4Gi',
  },
  {
    name: 'a note of somebody else does not make them larger than anybody wants',
    volumes: three('4Gi', { quotaSize: '1Pi' }),
    size: '4Gi',
  },
  {
    name: 'a maximum below what there is changes nothing',
    etcd: { maxVolumeSize: '2Gi' },
    volumes: three('4Gi', { usedBytes: 0.5 * Gi }),
    size: '4Gi',
  },
  {
    name: 'at the maximum a person is told before they are full',
    etcd: { maxVolumeSize: '4Gi' },
    volumes: three('4Gi', { usedBytes: 1.7 * Gi }),
    size: '4Gi',
    problem: /1741 MiB of the 2048 MiB that volumes of 4Gi allow.*raise etcd.maxVolumeSize, or delete/,
  },
  {
    name: 'at the maximum nobody is told while just that share is used',
    etcd: { maxVolumeSize: '4Gi' },
    volumes: three('4Gi', { usedBytes: warnAbove * 2 * Gi }),
    size: '4Gi',
  },
  {
    name: 'volumes that were all lost are made as large as the template says, where no quota is known',
    volumes: { ...none, templateSize: '8Gi' },
    size: '8Gi',
  },
  {
    name: 'while there is no claim the quota stays',
    volumes: { ...none, templateSize: '4Gi', quotaSize: '4Gi', usedBytes: 1.3 * Gi },
    size: '8Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'a quota that nobody knows is made for the smallest volume that there is',
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
    name: 'without autoGrow a person is told before they are full',
    etcd: small,
    volumes: { ...three('1Gi', { usedBytes: 0.45 * Gi }), templateSize: '1Gi' },
    size: '1Gi',
    templateSize: '1Gi',
    problem: /raise etcd.volumeSize/,
  },
  {
    name: 'without autoGrow they grow to what the user says',
    etcd: { autoGrow: false, volumeSize: '10Gi' },
    volumes: three('4Gi'),
    size: '10Gi',
    quotaSize: '4Gi',
  },
  {
    name: 'they never shrink, and both sizes are named',
    etcd: small,
    volumes: three('4Gi'),
    size: '4Gi',
    problem: /etcd.volumeSize is 1Gi, but the volumes have 4Gi/,
  },
];

describe("the size of etcd's volumes", () => {
  it.each(cases)('$name', ({ etcd = {}, volumes, size, quotaSize = size, templateSize = size, problem = /^$/ }) => {
    const { problem: told, ...plan } = planVolumes(clusterWith(etcd), volumes);
    expect(plan).toEqual({ size, quotaSize, templateSize: volumes.templateSize ?? templateSize });
    expect(told?.message ?? '').toMatch(problem);
  });

  it('never shrinks, and exceeds the maximum only where it did before', () => {
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
  ])('of %d bytes of 4Gi after %s is told as %s', (bytes, previous, text) => {
    expect(volumeUsage(bytes, '4Gi', previous)).toBe(text);
  });

  it('that is just what was told is not told anew', () => {
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
