import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  etcdMemberConfig,
  etcdQuotaBytes,
  etcdVolumeSize,
  etcdVolumeSizeToRestore,
} from '../../../../constructs/control-plane/etcd/config.ts';
import { clusterOf } from '../../../support/rendered-cluster.ts';

const withEtcd = (etcd: object) => clusterOf({ spec: { etcd } });
const Gi = 1024 ** 3;

describe('the quota of etcd', () => {
  it.each([
    [{}, '4Gi', 2 * Gi],
    [{ autoGrow: true, volumeSize: '0' }, '4Gi', 2 * Gi],
    [{ maxVolumeSize: '1Gi' }, '1Gi', Gi / 2],
    [{ maxVolumeSize: '20Gi' }, '4Gi', 2 * Gi],
    [{ autoGrow: false, volumeSize: '6Gi' }, '6Gi', 3 * Gi],
    [{ autoGrow: false, volumeSize: '10G' }, '10G', 5e9],
    [{ autoGrow: false, volumeSize: '100Gi' }, '100Gi', 8 * Gi],
  ])('for %j is half the volume of %s, and 8 GiB at most', (etcd, size, quota) => {
    expect(etcdVolumeSize(withEtcd(etcd))).toBe(size);
    expect(etcdQuotaBytes(withEtcd(etcd), size)).toBe(quota);
  });

  it("is the user's value if it is set", () => {
    expect(etcdQuotaBytes(withEtcd({ args: { 'quota-backend-bytes': '1000000000' } }), '4Gi')).toBe(1e9);
  });
});

describe('a volume for a restore', () => {
  it.each([
    [{}, 0.1, '4Gi'],
    [{}, 3, '9Gi'],
    [{ maxVolumeSize: '8Gi' }, 3, '9Gi'],
    [{ autoGrow: false, volumeSize: '6Gi' }, 3, '6Gi'],
  ])('with %j has room for a snapshot of %d GiB: %s', (etcd, gibibytes, size) => {
    expect(etcdVolumeSizeToRestore(withEtcd(etcd), gibibytes * Gi)).toBe(size);
  });
});

describe('the configuration of a member', () => {
  const config = (ordinal: number, members = 3) => parse(etcdMemberConfig(clusterOf(), ordinal, { members })) as object;

  it('differs from that of another member in name and addresses only', () => {
    const [first, second] = [Object.entries(config(0)), new Map(Object.entries(config(1)))];
    const different = first.filter(([key, value]) => JSON.stringify(second.get(key)) !== JSON.stringify(value));
    expect(different.map(([key]) => key)).toEqual(['name', 'advertise-client-urls', 'initial-advertise-peer-urls']);
  });

  it('accepts only its clients and its peers', () => {
    expect(config(0)).toMatchObject({
      'enable-grpc-gateway': false,
      'client-transport-security': { 'allowed-cn': ['apiserver-etcd-client', 'hosted-control-plane-controller'] },
      'peer-transport-security': { 'allowed-cn': ['etcd-peer'] },
    });
  });

  it('uses the names of the headless Service for itself and its peers', () => {
    expect(config(1, 2)).toMatchObject({
      name: 'c1-etcd-1',
      'advertise-client-urls': 'https://c1-etcd-1.e-c1-etcd.team.svc:2379',
      'initial-cluster':
        'c1-etcd-0=https://c1-etcd-0.e-c1-etcd.team.svc:2380,c1-etcd-1=https://c1-etcd-1.e-c1-etcd.team.svc:2380',
    });
  });

  const formed = {
    isFormed: true,
    pods: 3,
    initialClusters: {},
    founders: [],
    volumeSize: '8Gi',
    templateVolumeSize: '4Gi',
    templateStorageClass: undefined,
  };

  it('lets a founder that the others wait for start as they did, and all others as members that join', () => {
    const etcd = { ...formed, founders: [2], initialClusters: { 2: 'all' } };
    const starts = [0, 1, 2].map((ordinal) => parse(etcdMemberConfig(clusterOf(), ordinal, { members: 3, etcd })));
    expect(starts).toMatchObject([
      { 'initial-cluster-state': 'existing' },
      { 'initial-cluster-state': 'existing' },
      { 'initial-cluster-state': 'new', 'initial-cluster': 'all' },
    ]);
  });

  it('is rendered for the current volumes and version if they are known', () => {
    const etcd = { ...formed, version: '3.5.26' };
    expect(parse(etcdMemberConfig(clusterOf(), 0, { members: 3, etcd }))).toMatchObject({
      'quota-backend-bytes': 4 * Gi,
      'experimental-initial-corrupt-check': true,
    });
  });

  it('requires certificates of clients and peers', () => {
    expect(config(0)).toMatchObject({
      'client-transport-security': { 'client-cert-auth': true },
      'peer-transport-security': { 'client-cert-auth': true },
    });
  });
});
