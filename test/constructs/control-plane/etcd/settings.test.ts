import { describe, expect, it } from 'vitest';
import { etcdSettings, reservedEtcdSettings } from '../../../../constructs/control-plane/etcd/settings.ts';

const withArgs = (args: Record<string, string>, version = '3.6.8') =>
  etcdSettings({ version, quotaBytes: 2e9, args, separatesHTTP: false });

describe("a user's argument for etcd", () => {
  it('has the type that the configuration file requires', () => {
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

  it('replaces a default of the provider', () => {
    expect(withArgs({ 'quota-backend-bytes': '1000000000' })['quota-backend-bytes']).toBe(1e9);
  });

  it.each(reservedEtcdSettings)('cannot set %s', (name) => {
    expect(withArgs({ [name]: 'mine' })).toEqual(withArgs({}));
  });
});

describe('members detect that their data differ', () => {
  it.each(['3.6.8', '3.7.3'])('by feature gates of %s', (version) => {
    const settings = withArgs({}, version);
    expect(settings['feature-gates']).toBe('CompactHashCheck=true,InitialCorruptCheck=true');
    expect(Object.keys(settings).filter((name) => name.startsWith('experimental-'))).toEqual([]);
  });

  it('by flags of 3.5, which has no feature gates', () => {
    expect(withArgs({}, '3.5.26')).toMatchObject({
      'experimental-compact-hash-check-enabled': true,
      'experimental-initial-corrupt-check': true,
    });
    expect(withArgs({}, '3.5.26')).not.toHaveProperty('feature-gates');
  });

  it.each([
    [
      { 'feature-gates': 'StopGRPCServiceOnDefrag=true' },
      'CompactHashCheck=true,InitialCorruptCheck=true,StopGRPCServiceOnDefrag=true',
    ],
    [{ 'feature-gates': 'CompactHashCheck=false' }, 'InitialCorruptCheck=true,CompactHashCheck=false'],
    // etcd rejects both together.
    [{ 'experimental-compact-hash-check-enabled': 'false' }, 'InitialCorruptCheck=true'],
  ] as [Record<string, string>, string][])('unless the user disables it with %j', (args, gates) => {
    expect(withArgs(args)['feature-gates']).toBe(gates);
  });
});

describe('the interval of progress notifications', () => {
  it.each([
    ['3.5.26', {}, 'experimental-watch-progress-notify-interval', 5e9],
    ['3.6.8', {}, 'watch-progress-notify-interval', 5e9],
    ['3.6.8', { 'watch-progress-notify-interval': '1s' }, 'watch-progress-notify-interval', 1e9],
    [
      '3.6.8',
      { 'experimental-watch-progress-notify-interval': '1s' },
      'experimental-watch-progress-notify-interval',
      1e9,
    ],
  ] as [string, Record<string, string>, string, number][])(
    'of %s with %j is set once, as %s',
    (version, args, name, value) => {
      const found = Object.entries(withArgs(args, version)).filter(([key]) => key.includes('watch-progress'));
      expect(found).toEqual([[name, value]]);
    },
  );
});
