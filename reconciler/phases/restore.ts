import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { mostEarlierRestores } from '../../constructs/api/etcd-status.ts';
import { isBareSnapshot } from '../../constructs/api/restore-spec.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { describeBareSnapshot } from '../backup/bare-snapshot.ts';
import { degraded, done, notRequested, type Outcome, wait } from '../engine/outcome.ts';
import { operatorImageOf } from '../backup/receiver/operator-image.ts';
import {
  describeProgress,
  markClaims,
  needsOf,
  removePods,
  restoreMembers,
} from '../backup/restore/restore-members.ts';
import { planRestore, type RestoreDecision } from '../backup/restore/plan-restore.ts';
import { observeRestore } from '../backup/restore/observe-restore.ts';
import { reportBlocker } from '../backup/restore/blocker.ts';
import { prepare, retryMs } from '../backup/restore/prepare.ts';
import { prepareWork, type RestoreRecord, type Restoring, restoringOf } from '../backup/restore/restoring.ts';
import { stop } from '../run-state/stop.ts';
import { restoreSourceOf } from '../backup/restore/source.ts';
import { describeTerminating, terminatingVolumes } from '../etcd/terminating-volumes.ts';
import { phase, type Scope } from './scope.ts';
import { etcdCertificates } from './certificates.ts';
import { secretProps } from '../certificates/secret-props.ts';
import type { SecretObject } from '../../imports/kubernetes.ts';
import { findUsersObject } from '../clusters/management/users-objects.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { adopt, encryptionSecret, readEncryptionKeys } from '../encryption-at-rest/secret.ts';
import { type Key, identity } from '../encryption-at-rest/configuration.ts';
import { firstKeys, initialConfigurationFor } from '../encryption-at-rest/first-keys.ts';
import { holdsEarlierData } from '../backup/restore/earlier-data.ts';
import type { SecretProps } from '../pki/secret.ts';
import type { RestoreContext } from '../backup/restore/restore-context.ts';

/**
 * Replaces the data of etcd with a backup when the spec asks for it. Once the data is taken out of use, etcd and the
 * API servers wait for the restore. Before that, and when a restore cannot begin, they continue to run.
 */
export const restore = phase({
  condition: 'EtcdRestoreReady',
  needs: [etcdCertificates],
  async run(scope): Promise<Outcome> {
    const { cluster, reader } = scope;
    const { request, record, run, prepared } = restoringOf(scope);

    const decision = planRestore({
      request: request?.id,
      record: record && {
        request: record.request,
        isComplete: record.completionTime !== undefined,
        earlier: record.earlier ?? [],
      },
      run,
      isPrepared: prepared !== undefined,
      ...observeRestore({ cluster, members: cluster.spec.etcd.replicas, reader }),
    });

    return request ? act(scope, { request, record, run, prepared }, decision) : withoutRequest(decision);
  },
});

/** Delay of the next reconcile, when only polling shows the state of pods, or when the status was just written. */
const soonMs = 500;

function withoutRequest({ kind }: RestoreDecision): Outcome {
  if (kind !== 'withdrawn') return notRequested();
  return wait(
    'RestoringMembers',
    'a restore has begun, but etcd.restore was removed: set it again, or choose another backup',
  );
}

async function act(scope: Scope, restoring: Restoring, decision: RestoreDecision): Promise<Outcome> {
  const { request, record, run, prepared } = restoring;
  const going = (step: ConditionReason, message: string, afterMs?: number) =>
    wait(step, message, { ...(afterMs ? { afterMs } : {}), report: reported(record, { step }) });
  switch (decision.kind) {
    case 'nothing':
      return done({}, undefined, { message: caution(record?.backup) });
    case 'withdrawn':
      return wait(
        'RestoringMembers',
        'a restore has begun, but etcd.restore was changed back to one that had begun before it, and no restore runs twice: set what it was, or set etcd.restore.request to a new text',
      );
    case 'prepare':
    case 'prepareAgain':
      return prepare(scope, restoring);
    case 'begin':
      return begin(scope, restoring);
    case 'stopServers':
    case 'stopMembers': {
      const waiting = await stop(scope, decision);
      return { ...waiting, report: reported(record, { step: waiting.reason }) };
    }
    case 'restore': {
      if (!prepared || !record) return prepare(scope, restoring);
      const source = restoreSourceOf(scope, restoring);
      await restoreMembers(scope, { source, prepared, run, startTime: record.startTime }, decision);
      return going('RestoringMembers', describeProgress(scope, decision.members, prepared), soonMs);
    }
    case 'mark':
      await markClaims(scope, request, run);
      return going('RestoringMembers', 'marking the volume claims as restored', soonMs);
    case 'cleanUp':
      await removePods(scope);
      return going('RestoringMembers', 'removing the restore pods');
    case 'start':
      // What was watched since this reconcile began may allow a version that it does not have yet.
      if (scope.restored.spec.version !== scope.cluster.spec.version)
        return going('RestoringMembers', 'the version goes back with the data', soonMs);
      return degraded('StartingMembers', 'etcd and the API servers start with the restored data', {
        report: reported(record, { step: 'StartingMembers' }),
      });
    case 'complete':
      scope.work.cancel(prepareWork);
      return done({}, undefined, {
        message: caution(record?.backup),
        report: reported(record, { step: 'Completed', completionTime: scope.now.toISOString() }),
      });
  }
}

/**
 * Records the restore in the status before it acts, so that it runs once. Before that it tries what it will need, and stores the keys of the backup
 * in the encryption Secret, because later steps have no access to them.
 */
async function begin(scope: Scope, restoring: Restoring): Promise<Outcome> {
  const { cluster, now } = scope;
  const { request, record: previous, prepared } = restoring;
  // Restore pods need it, and nothing must stop for pods that cannot be created.
  operatorImageOf(scope);
  const { claims, isQuorumKept } = terminatingVolumes(scope);
  if (!isQuorumKept && request.kind === 'restore') {
    const message = `${describeTerminating(claims, cluster.spec.etcd.replicas)}; the restore would end it before what it holds could be set aside`;
    return reportBlocker(scope, restoring, { reason: 'VolumesTerminating', message });
  }
  const refusal = prepared && (await scope.writer.dryRun(needsOf(scope, prepared)));
  if (refusal !== undefined)
    return reportBlocker(
      scope,
      restoring,
      { reason: 'RestoreRefused', message: `no pod was stopped, because the restore could not end: ${refusal}` },
      retryMs,
    );
  const props = secretProps(scope, namesOf(cluster.name).secrets.encryption);
  const blocker = await adoptKeys(scope, props, prepared?.encryptionKeys ?? []);
  if (blocker !== undefined)
    return reportBlocker(scope, restoring, { reason: 'BackupUnusable', message: blocker }, retryMs);
  const record: RestoreRecord = {
    request: request.id,
    backup: prepared?.backup,
    startTime: now.toISOString(),
    step: 'StoppingAPIServers',
    restoredTo: String(prepared?.snapshot.revision ?? 0),
    ...(previous && { earlier: [previous.request, ...(previous.earlier ?? [])].slice(0, mostEarlierRestores) }),
  };
  const unchecked = caution(prepared?.backup);
  const valid = unchecked === '' ? `backup ${prepared?.backup ?? ''} is valid` : unchecked;
  return wait('StoppingAPIServers', `${valid}; the restore begins`, {
    afterMs: soonMs,
    report: { etcd: { restore: record } },
  });
}

/** What could not be checked; empty for a backup of this provider. */
function caution(backup: string | undefined): string {
  return backup !== undefined && isBareSnapshot(backup) ? describeBareSnapshot(backup) : '';
}

function reported(record: RestoreRecord | undefined, changes: Partial<RestoreRecord>) {
  return record ? { etcd: { restore: { ...record, ...changes } } } : {};
}

/**
 * Adds the keys of a backup to the keys of this cluster, so that API servers can read its Secrets when they start with
 * it. Call it before any other step of the restore: the keys become readable only because the restore has begun, and
 * after a process is killed in between, the next one finds them. Returns a sentence about the problem, if any; then
 * nothing was written.
 */
export async function adoptKeys(
  scope: RestoreContext,
  props: SecretProps,
  keys: readonly Key[],
): Promise<string | undefined> {
  if (keys.length === 0) return undefined;
  const { writer } = scope;
  const found = await findUsersObject<SecretObject>(scope, Secret, props.name);
  const live = found ?? (await create(scope, props, keys));
  if (live === 'lost')
    return `Secret ${props.name} does not exist, and the restore waits for it: restore the Secret from a backup`;
  // The user is responsible for what these API servers can read.
  if (live === 'users') return undefined;
  const own = readEncryptionKeys(live);
  if (!own)
    return `Secret ${props.name} has no valid encryption configuration, and the restore waits for it: restore the Secret from a backup`;
  const adoption = adopt(own, keys);
  if (adoption.kind === 'clash') {
    return `Secrets of the backup are encrypted with ${adoption.name}, but Secret ${props.name} has another key of that name: restore the backup into a new Cluster`;
  }
  if (adoption.kind === 'adopted') await writer.apply([encryptionSecret(props, adoption.keys, live)]);
  return undefined;
}

/**
 * A Secret with the initial configuration of the control plane. A control plane that stores Secrets unencrypted needs
 * it too.
 */
async function create(
  scope: RestoreContext,
  props: SecretProps,
  keys: readonly Key[],
): Promise<SecretObject | 'lost' | 'users'> {
  const initialConfiguration = initialConfigurationFor(scope, holdsEarlierData(scope));
  if (initialConfiguration.kind === 'lost' || initialConfiguration.kind === 'users') return initialConfiguration.kind;
  const providers = initialConfiguration.kind === 'configure' ? initialConfiguration.providers : [identity];
  return scope.writer.createOnce<SecretObject>(encryptionSecret(props, firstKeys(scope, providers, keys)));
}
