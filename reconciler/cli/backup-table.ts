import type { Manifest } from '../backup/manifest.ts';
import { backupId, type BackupOwner } from '../../constructs/cluster/backup-names.ts';
import type { MarkedBackup } from '../backup/ownership.ts';
import type { Verification } from '../backup/verification-result.ts';
import { sizeText, spanText } from './format.ts';
import { table } from './columns.ts';
import { type Paint, plainView, type View } from './view.ts';
import { wrapped } from './wrapped.ts';

/** One backup in the bucket. */
export type BackupEntry =
  | {
      readonly kind: 'backup';
      readonly name: MarkedBackup;
      readonly manifest: Manifest;
      /** Missing until it has passed verification. */
      readonly verification: Verification | undefined;
    }
  | { readonly kind: 'unreadable'; readonly name: MarkedBackup; readonly problem: string };

/** The content of a cluster's directory in the bucket, newest first. */
interface ListedBackups {
  readonly entries: readonly BackupEntry[];
  /** Those of them that are not of the control plane that is asked about. */
  readonly foreign: readonly MarkedBackup[];
  readonly unfinished: readonly MarkedBackup[];
  /** Names of snapshots without a manifest. */
  readonly bareSnapshots: readonly string[];
}

/** Human-readable: a table, and below it everything that is not a complete backup. */
export function describeBackups(
  { namespace, cluster }: BackupOwner,
  { entries, foreign, unfinished, bareSnapshots }: ListedBackups,
  now: number,
  view: View = plainView,
): string[] {
  const { paint, width } = view;
  const age = ({ time }: MarkedBackup): string => spanText(now - time);
  const rows = entries.flatMap((entry) => (entry.kind === 'backup' ? [row(entry, age(entry.name), paint)] : []));
  const faults = entries.flatMap((entry) => (entry.kind === 'unreadable' ? [entry] : []));
  return [
    ...(rows.length > 0 ? table([heading, ...rows], view) : [`no backups of ${namespace}/${cluster} in the bucket`]),
    ...(faults.length > 0 ? ['', 'Cannot be used:'] : []),
    ...faults.flatMap(({ name, problem }) =>
      wrapped(`${paint('fails', backupId(name))}: ${problem}`, width, { first: '  ', further: '    ' }),
    ),
    ...(foreign.length > 0
      ? [
          '',
          'Of another HostedControlPlane of this name, such as a predecessor. The operator neither counts nor deletes them:',
          `when you need one no longer, delete its folder in ${namespace}/${cluster}/ of the bucket:`,
        ]
      : []),
    ...foreign.map((name) => `  ${backupId(name)}`),
    ...(unfinished.length > 0
      ? ['', 'Incomplete: in progress or interrupted; the operator removes interrupted ones later:']
      : []),
    ...unfinished.map((name) => `  ${backupId(name)}, started ${age(name)} ago`),
    ...(bareSnapshots.length > 0 ? ['', 'Snapshots without a manifest, of another provider:'] : []),
    ...bareSnapshots.map((name) => `  ${name}`),
  ];
}

const heading = ['NAME', 'AGE', 'SIZE', 'REVISION', 'KEYS', 'KUBERNETES', 'ETCD', 'VERIFIED', 'ENCRYPTED', 'BUNDLE'];

type ReadableBackup = Extract<BackupEntry, { kind: 'backup' }>;

function row({ name, manifest, verification }: ReadableBackup, age: string, paint: Paint): string[] {
  return [
    backupId(name),
    age,
    sizeText(manifest.sizeBytes),
    String(manifest.revision),
    String(manifest.keys.total),
    manifest.kubernetesVersion,
    manifest.etcdVersion,
    verification ? paint('ok', `restored in ${secondsText(verification.restoreSeconds)}`) : 'no',
    manifest.encryption ? `by ${manifest.encryption.keyId}` : 'no',
    manifest.objects.bundle === undefined ? 'no' : 'yes',
  ];
}

function secondsText(seconds: number): string {
  return seconds < 10 ? `${seconds.toFixed(1)}s` : spanText(seconds * 1000);
}

/** What `-o json|yaml` prints, with exact values. */
export function shapeOfBackups(owner: BackupOwner, { entries, unfinished, bareSnapshots }: ListedBackups): object {
  const identity = (name: MarkedBackup) => ({
    name: backupId(name),
    time: new Date(name.time).toISOString(),
    ownerUID: name.owner ?? null,
  });
  return {
    ...owner,
    backups: entries.map((entry) =>
      entry.kind === 'unreadable'
        ? { ...identity(entry.name), revision: entry.name.revision, problem: entry.problem }
        : {
            ...identity(entry.name),
            revision: entry.manifest.revision,
            sizeBytes: entry.manifest.sizeBytes,
            keys: entry.manifest.keys.total,
            kubernetesVersion: entry.manifest.kubernetesVersion,
            etcdVersion: entry.manifest.etcdVersion,
            verified: entry.verification
              ? { time: entry.verification.time, restoreSeconds: entry.verification.restoreSeconds }
              : null,
            encryptionKey: entry.manifest.encryption?.keyId ?? null,
            hasRecoveryBundle: entry.manifest.objects.bundle !== undefined,
          },
    ),
    unfinished: unfinished.map(identity),
    bareSnapshots,
  };
}
