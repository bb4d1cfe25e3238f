import { durationSeconds, isDuration } from '../../api/duration.ts';

/** Keys of the configuration file and their values. */
export type EtcdSettings = Record<string, EtcdSetting>;
type EtcdSetting = string | number | boolean | string[];

export interface EtcdSettingsOptions {
  /** Version that reads them, such as `3.6.8`. */
  readonly version: string;
  /** Largest size of the database. */
  readonly quotaBytes: number;
  /** The user's arguments, which win over ours but for {@link reservedEtcdSettings}. */
  readonly args: Readonly<Record<string, string>> | undefined;
}

/** What all members are configured with alike; read at the start, so that a change of it restarts them. */
export function etcdSettings({ version, quotaBytes, args = {} }: EtcdSettingsOptions): EtcdSettings {
  const isOld = version.startsWith('3.5.');
  return {
    // A fallback only: the API server compacts every five minutes.
    'auto-compaction-mode': 'periodic',
    'auto-compaction-retention': '72h',
    'quota-backend-bytes': quotaBytes,
    'snapshot-count': 10_000,
    // Lets the API server serve consistent reads from its watch cache. In nanoseconds: a file takes no duration text.
    ...unlessGiven(args, { [isOld ? `experimental-${watchProgress}` : watchProgress]: 5e9 }),
    ...(isOld ? corruptionFlags : corruptionGates(args)),
    ...userSettings(args),
  };
}

const watchProgress = 'watch-progress-notify-interval';

/** Up to 3.6 etcd knows most settings by two names and refuses to be given both. */
function unlessGiven(args: Readonly<Record<string, string>>, ours: EtcdSettings): EtcdSettings {
  return Object.fromEntries(Object.entries(ours).filter(([name]) => args[`experimental-${name}`] === undefined));
}

/**
 * How members find out that their data differ: before they serve, and after every compaction. Names of the gates by
 * those of the flags they were until 3.5.
 */
const corruptionChecks: Readonly<Record<string, string>> = {
  'experimental-compact-hash-check-enabled': 'CompactHashCheck',
  'experimental-initial-corrupt-check': 'InitialCorruptCheck',
};

const corruptionFlags: EtcdSettings = Object.fromEntries(Object.keys(corruptionChecks).map((flag) => [flag, true]));

/** Gates of the user stay, and win. etcd refuses a gate beside the flag that it was before. */
function corruptionGates({ 'feature-gates': users = '', ...flags }: Readonly<Record<string, string>>): EtcdSettings {
  const given = users.split(',').filter((admission) => admission.trim() !== '');
  const ours = Object.entries(corruptionChecks)
    .filter(
      ([flag, admission]) => flags[flag] === undefined && given.every((one) => one.split('=')[0]?.trim() !== admission),
    )
    .map(([, admission]) => `${admission}=true`);
  const all = [...ours, ...given];
  return all.length > 0 ? { [featureGates]: all.join(',') } : {};
}

const featureGates = 'feature-gates';

/** Settings that a user's etcd argument cannot change: identity, addresses, TLS, and where data is. */
export const reservedEtcdSettings: readonly string[] = [
  'advertise-client-urls',
  'cert-file',
  'client-cert-auth',
  'data-dir',
  'discovery',
  'discovery-srv',
  // Every restart of a member would throw the others out.
  'force-new-cluster',
  'initial-advertise-peer-urls',
  'initial-cluster',
  'initial-cluster-state',
  'initial-cluster-token',
  'key-file',
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

/** Flags and keys of the configuration file have the same names, but the file wants values of the right type. */
function userSettings(args: Readonly<Record<string, string>>): EtcdSettings {
  return Object.fromEntries(
    Object.entries(args)
      .filter(([name]) => name !== featureGates && !reservedEtcdSettings.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, typed(name, value)]),
  );
}

/** Settings that are lists in the file; as a flag their values are separated by commas. */
const lists = ['cipher-suites', 'log-outputs'];

function typed(name: string, value: string): EtcdSetting {
  if (lists.includes(name)) return value.split(',');
  // Text in the file as well: the one duration that is, and the one number.
  if (name === 'auto-compaction-retention') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  if (/^\d+$/.test(value)) return Number(value);
  return isDuration(value) ? Math.round(durationSeconds(value) * 1e9) : value;
}
