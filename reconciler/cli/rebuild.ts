import { stringify } from 'yaml';
import { Backup } from '../../constructs/api/backup-spec.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { RecoveryBundle, KeptObject } from '../backup/recovery-bundle.ts';
import type { Choice } from '../backup/choose-backup.ts';
import { findRecoveryBundle } from '../backup/find-recovery-bundle.ts';
import type { BackupOwner } from '../../constructs/cluster/backup-names.ts';
import { storeReaderOf } from '../backup/store/store-reader.ts';
import { beforeOption, readChoice } from './backup-selector.ts';
import { type Command, type ParsedArguments, type Session, textOption, UsageError } from './command.ts';

/** Arguments of `hcp rebuild`. */
interface RebuildRequest {
  /** The lost cluster. */
  readonly owner: BackupOwner;
  readonly choice: Choice;
  /** Secret with the address of the bucket. */
  readonly store: string;
  /** Secret with the encryption keys of the backups. */
  readonly keys: string;
}

/** Prints the manifests that rebuild a lost cluster after its management cluster was lost. */
export const rebuild: Command = {
  name: 'rebuild',
  examples: [
    [
      'rebuild team-a/prod -n team-a --store bucket --keys backup-keys >prod.yaml',
      'after the management cluster was lost',
    ],
  ],
  usage: 'NAMESPACE/CLUSTER --store SECRET --keys SECRET [--backup NAME | --latest | --before TIME]',
  summary: 'Prints the manifests that rebuild a lost cluster, with the same CAs.',
  options: {
    store: { type: 'string', value: 'SECRET', meaning: 'Secret with the address of the bucket' },
    keys: { type: 'string', value: 'SECRET', meaning: 'Secret with the encryption keys of the backups' },
    backup: { type: 'string', value: 'NAME', meaning: 'use this backup' },
    latest: { type: 'boolean', meaning: 'use the newest backup; this is the default' },
    before: beforeOption('use'),
  },
  access: [{ resource: Secret, verbs: ['get'], why: 'the bucket, and the encryption keys of its backups' }],
  prepare(given) {
    const request = readRebuildRequest(given);
    return (session) => printRebuild(session, request);
  },
};

/** @throws UsageError */
function readRebuildRequest(given: ParsedArguments): RebuildRequest {
  const [name = '', ...more] = given.positionals;
  const [namespace, cluster, ...deeper] = name.split('/');
  if (!namespace || !cluster || deeper.length > 0 || more.length > 0) {
    throw new UsageError(
      'the lost cluster is missing: set NAMESPACE/CLUSTER as in the names of its backups, such as team/c1',
    );
  }
  return {
    owner: { namespace, cluster },
    choice: readChoice(given, { kind: 'latest' }),
    store: secretOption(given, 'store', 'the address of the bucket'),
    keys: secretOption(given, 'keys', 'the encryption keys of the backups'),
  };
}

function secretOption(given: ParsedArguments, name: string, holds: string): string {
  const secret = textOption(given, name);
  if (secret) return secret;
  throw new UsageError(`--${name} must name the Secret with ${holds}: without it the lost cluster cannot be rebuilt`);
}

async function printRebuild({ client, namespace, terminal }: Session, request: RebuildRequest): Promise<void> {
  const { owner, choice, store, keys } = request;
  // The schedule is not used, but required so that the Secret's keys get their defaults.
  const spec = Backup.parse({ schedule: '@daily', secret: { name: store }, encryption: { secretName: keys } });
  const storeReader = storeReaderOf(client, { namespace, name: owner.cluster });
  const { backup, bundle } = await findRecoveryBundle({ owner, choice, namespace, store: spec, storeReader });
  terminal.print(rebuildManifest(bundle, { namespace, owner, backup }));
  terminal.info(
    `from backup ${backup}. It does not contain the Secrets with the bucket and its keys, infrastructure, Machines, or other objects that ${bundle.cluster.metadata.name} refers to`,
  );
}

/** The manifests: Cluster and HostedControlPlane of the backup, with the restore of data and CAs. */
export function rebuildManifest(
  { cluster, hostedControlPlane }: RecoveryBundle,
  { namespace, owner, backup }: { readonly namespace: string; readonly owner: BackupOwner; readonly backup: string },
): string {
  const { spec } = hostedControlPlane;
  const etcd = { ...asObject(spec['etcd']), restore: { backup, from: { ...owner, identity: true } } };
  const objects = [cluster, { ...hostedControlPlane, spec: { ...spec, etcd } }];
  return objects
    .map((object) => stringify(inNamespace(object, namespace)))
    .join('---\n')
    .trimEnd();
}

function inNamespace(object: KeptObject, namespace: string): KeptObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}
