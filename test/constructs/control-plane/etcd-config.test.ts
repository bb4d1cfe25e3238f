import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  etcdMemberConfig,
  etcdQuotaBytes,
  etcdSettings,
  etcdVolumeSize,
  reservedEtcdSettings,
} from '../../../constructs/control-plane/etcd-config.ts';
import { clusterOf } from '../../support/rendered-cluster.ts';

const withEtcd = (etcd: object) => clusterOf({ spec: { etcd } });
const withArgs = (args: Record<string, string>) => etcdSettings(withEtcd({ args }));
const Gi = 1024 ** 3;

describe('the quota of etcd', () => {
  it.each([
    [{}, '4Gi', 2 * Gi],
    [{ autoGrow: true, volumeSize: '0' }, '4Gi', 2 * Gi],
    [{ autoGrow: false, volumeSize: '6Gi' }, '6Gi', 3 * Gi],
    [{ autoGrow: false, volumeSize: '10G' }, '10G', 5e9],
    [{ autoGrow: false, volumeSize: '100Gi' }, '100Gi', 8 * Gi],
  ])('for %j is half the volume of %s, and 8 GiB at most', (etcd, size, quota) => {
    expect(etcdVolumeSize(withEtcd(etcd))).toBe(size);
    expect(etcdQuotaBytes(withEtcd(etcd))).toBe(quota);
  });
});

describe("a user's argument for etcd", () => {
  it('takes the type that the configuration file wants', () => {
    expect(
      withArgs({
        'auto-compaction-retention': '24',
        'cipher-suites': 'TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384',
        'election-timeout': '2500',
        'grpc-keepalive-interval': '2h',
        'pre-vote': 'false',
        'log-level': 'debug',
      }),
    ).toMatchObject({
      'auto-compaction-retention': '24',
      'cipher-suites': ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384'],
      'election-timeout': 2500,
      // Nanoseconds.
      'grpc-keepalive-interval': 7200e9,
      'pre-vote': false,
      'log-level': 'debug',
    });
  });

  it('replaces a setting that is only a default of ours', () => {
    expect(withArgs({ 'quota-backend-bytes': '1000000000' })['quota-backend-bytes']).toBe(1e9);
  });

  it.each(reservedEtcdSettings)('cannot set %s', (name) => {
    const cluster = withEtcd({ args: { [name]: 'mine' } });
    expect(etcdMemberConfig(cluster, 0, 3)).toBe(etcdMemberConfig(withEtcd({}), 0, 3));
  });
});

describe('the configuration of a member', () => {
  const config = (ordinal: number, members = 3) => parse(etcdMemberConfig(clusterOf(), ordinal, members)) as object;

  it('differs from that of another member in name and addresses alone', () => {
    const [first, second] = [Object.entries(config(0)), new Map(Object.entries(config(1)))];
    const different = first.filter(([key, value]) => JSON.stringify(second.get(key)) !== JSON.stringify(value));
    expect(different.map(([key]) => key)).toEqual(['name', 'advertise-client-urls', 'initial-advertise-peer-urls']);
  });

  it('names itself and its peers as the headless Service does', () => {
    expect(config(1, 2)).toMatchObject({
      name: 'c1-etcd-1',
      'advertise-client-urls': 'https://c1-etcd-1.e-c1-etcd.team.svc:2379',
      'initial-cluster':
        'c1-etcd-0=https://c1-etcd-0.e-c1-etcd.team.svc:2380,c1-etcd-1=https://c1-etcd-1.e-c1-etcd.team.svc:2380',
    });
  });

  it('asks clients and peers for certificates', () => {
    expect(config(0)).toMatchObject({
      'client-transport-security': { 'client-cert-auth': true },
      'peer-transport-security': { 'client-cert-auth': true },
    });
  });
});
