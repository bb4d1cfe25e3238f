import { ports } from '../../cluster/ports.ts';
import { durationSeconds, isDuration } from '../../api/duration.ts';

/** Keys of the configuration file and their values. */
export type EtcdSettings = Record<string, EtcdSetting>;
type EtcdSetting = string | number | boolean | string[];

export interface EtcdSettingsOptions {
  /** Version of etcd that reads the settings, such as `3.6.8`. */
  readonly version: string;
  /** Maximum size of the database. */
  readonly quotaBytes: number;
  /** The user's arguments. They take precedence, except for {@link reservedEtcdSettings}. */
  readonly args: Readonly<Record<string, string>> | undefined;
  /** Whether HTTP has a port of its own. */
  readonly separatesHTTP: boolean;
}

/** The settings that are the same for all members. Members read them when they start, so a change restarts them. */
export function etcdSettings({ version, quotaBytes, args = {}, separatesHTTP }: EtcdSettingsOptions): EtcdSettings {
  const isOld = version.startsWith('3.5.');
  return {
    // Only a fallback: the API server compacts every five minutes.
    'auto-compaction-mode': 'periodic',
    'auto-compaction-retention': '72h',
    'quota-backend-bytes': quotaBytes,
    'snapshot-count': 10_000,
    // On one port with HTTP, etcd serves gRPC through an HTTP server that cuts off answers when the member stops.
    ...(separatesHTTP ? { 'listen-client-http-urls': `https://0.0.0.0:${ports.etcdHTTP}` } : {}),
    // Allows the API server to serve consistent reads from its watch cache. In nanoseconds, because the file does not
    // accept duration text.
    ...unlessGiven(args, { [isOld ? `experimental-${watchProgress}` : watchProgress]: 5e9 }),
    ...(isOld ? corruptionFlags : corruptionGates(args)),
    ...userSettings(args),
  };
}

const watchProgress = 'watch-progress-notify-interval';

/** Up to 3.6 etcd has two names for most settings and rejects both at once. */
function unlessGiven(args: Readonly<Record<string, string>>, operatorSettings: EtcdSettings): EtcdSettings {
  return Object.fromEntries(
    Object.entries(operatorSettings).filter(([name]) => args[`experimental-${name}`] === undefined),
  );
}

/**
 * Checks with which members detect that their data differ: before they serve, and after every compaction. Feature gates
 * by the name of their flags up to 3.5.
 */
const corruptionChecks: Readonly<Record<string, string>> = {
  'experimental-compact-hash-check-enabled': 'CompactHashCheck',
  'experimental-initial-corrupt-check': 'InitialCorruptCheck',
};

const corruptionFlags: EtcdSettings = Object.fromEntries(Object.keys(corruptionChecks).map((flag) => [flag, true]));

/** The user's feature gates take precedence. etcd rejects a feature gate together with its former flag. */
function corruptionGates({ 'feature-gates': users = '', ...flags }: Readonly<Record<string, string>>): EtcdSettings {
  const given = users.split(',').filter((gate) => gate.trim() !== '');
  const checks = Object.entries(corruptionChecks)
    .filter(([flag, gate]) => flags[flag] === undefined && given.every((one) => one.split('=')[0]?.trim() !== gate))
    .map(([, gate]) => `${gate}=true`);
  const all = [...checks, ...given];
  return all.length > 0 ? { [featureGates]: all.join(',') } : {};
}

const featureGates = 'feature-gates';

/** Settings that the user's arguments cannot change: identity, addresses, TLS and data directories. */
export const reservedEtcdSettings: readonly string[] = [
  'advertise-client-urls',
  'cert-file',
  'client-cert-auth',
  'data-dir',
  'discovery',
  'discovery-srv',
  // Every restart of a member would remove the others.
  'force-new-cluster',
  'initial-advertise-peer-urls',
  'initial-cluster',
  'initial-cluster-state',
  'initial-cluster-token',
  'key-file',
  'listen-client-http-urls',
  'listen-client-urls',
  'listen-metrics-urls',
  'listen-peer-urls',
  'name',
  'peer-cert-file',
  'peer-client-cert-auth',
  'peer-key-file',
  'peer-trusted-ca-file',
  'trusted-ca-file',
  'wal-dir',
];

/** Flags and keys of the configuration file have the same names, but the file requires values of the right type. */
function userSettings(args: Readonly<Record<string, string>>): EtcdSettings {
  return Object.fromEntries(
    Object.entries(args)
      .filter(([name]) => name !== featureGates && !reservedEtcdSettings.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, typed(name, value)]),
  );
}

/** Settings that are lists in the file. As a flag, their values are separated by commas. */
const lists = ['cipher-suites', 'log-outputs'];

function typed(name: string, value: string): EtcdSetting {
  if (lists.includes(name)) return value.split(',');
  // The only duration, and the only number, that the file also reads as text.
  if (name === 'auto-compaction-retention') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  if (/^\d+$/.test(value)) return Number(value);
  return isDuration(value) ? Math.round(durationSeconds(value) * 1e9) : value;
}
