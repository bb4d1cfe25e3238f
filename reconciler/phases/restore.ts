import { isDeepStrictEqual } from 'node:util';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import type { EtcdStatus } from '../../constructs/api/etcd-status.ts';
import { namesOf } from '../../constructs/control-plane/names.ts';
import { etcdVersion } from '../../constructs/control-plane/versions.ts';
import type { WorkState } from '../background-work.ts';
import { StoreError } from '../backup/store-error.ts';
import { openEtcd } from '../etcd/access.ts';
import { etcdHealth } from '../etcd/health.ts';
import { knownMembers, watchedMemberObjects } from '../etcd/member-objects.ts';
import { systemClock } from '../kube/clock.ts';
import { messageOf } from '../kube/error-message.ts';
import { degraded, done, InvalidConfiguration, type Outcome, wait } from '../outcome.ts';
import { adoptKeys } from '../restore/adopt-keys.ts';
import {
  describeProgress,
  holdMembers,
  holdServers,
  markClaims,
  removePods,
  restoreMembers,
} from '../restore/carry-out.ts';
import { decideRestore, type RestoreDecision } from '../restore/decide.ts';
import { observeWorld, troubleOf } from '../restore/observe.ts';
import { BackupNotFound, type BackupWish, prepareBackup, type PreparedBackup } from '../restore/prepare.ts';
import { ownerOf, requestOf, type RestoreRequest, runId } from '../restore/request.ts';
import type { Phase, Scope } from '../scope.ts';
import { etcdCertificates } from './certificates.ts';
import { secretProps } from './secret-props.ts';

/**
 * Replaces the data of etcd by a backup when the spec asks for it. From the moment on that data is taken out of use, etcd
 * and the API servers wait for it; before, and when it cannot begin, what is there goes on.
 */
export const restore: Phase = {
  condition: 'EtcdRestoreReady',
  needs: [etcdCertificates],
  async run(scope): Promise<Outcome> {
    const { cluster, world, hostedControlPlane, work } = scope;
    const record = hostedControlPlane.status?.etcd?.restore;
    const request = requestOf(cluster.spec.etcd, cluster, {
      isLost: isQuorumLost(scope),
      begun: record?.completionTime === undefined ? record?.request : undefined,
    });
    const run = runId(request?.id ?? '', record?.startTime ?? '', cluster.spec.etcd.replicas);
    const preparation = work.state<PreparedBackup>(prepareWork);
    const prepared = preparedFor(request, record, preparation);

    const decision = decideRestore({
      request: request?.id,
      record: record && { request: record.request, isComplete: record.completionTime !== undefined },
      run,
      isPrepared: prepared !== undefined,
      ...observeWorld({ cluster, members: cluster.spec.etcd.replicas, world }),
    });

    return request ? act(scope, { request, record, run, prepared }, decision) : withoutRequest(decision);
  },
};

type Record = NonNullable<EtcdStatus['restore']>;

interface Restoring {
  readonly request: RestoreRequest;
  readonly record: Record | undefined;
  readonly run: string;
  readonly prepared: PreparedBackup | undefined;
}

const prepareWork = 'etcd-restore';

/** Soon enough for whoever waits for pods of which nothing else tells, and for a status that was just written. */
const soonMs = 500;

/** What is not told by a watch, such as a store that is back. */
const retryMs = 30_000;

function withoutRequest({ kind }: RestoreDecision): Outcome {
  if (kind !== 'Withdrawn') return done();
  return wait(
    'RestoringMembers',
    'a restore has begun and etcd.restore does not ask for it any more: put it back, or choose another backup',
  );
}

async function act(scope: Scope, restoring: Restoring, decision: RestoreDecision): Promise<Outcome> {
  const { request, record, run, prepared } = restoring;
  const going = (step: ConditionReason, message: string, afterMs?: number) =>
    wait(step, message, { ...(afterMs ? { afterMs } : {}), report: reported(record, { step }) });
  switch (decision.kind) {
    case 'Nothing':
      return done();
    case 'Withdrawn':
      return withoutRequest(decision);
    case 'Prepare':
    case 'PrepareAgain':
      return prepare(scope, restoring);
    case 'Begin':
      return begin(scope, restoring);
    case 'StopServers':
      await holdServers(scope, decision.workloads);
      return going('StoppingAPIServers', `waiting for the end of ${decision.pods.join(', ') || 'nothing'}`);
    case 'StopMembers':
      await holdMembers(scope);
      return going('StoppingMembers', `waiting for the end of ${decision.pods.join(', ') || 'nothing'}`);
    case 'Restore': {
      if (!prepared || !record) return prepare(scope, restoring);
      const wish = wishOf(scope, restoring);
      await restoreMembers(scope, { wish, prepared, run, startTime: record.startTime }, decision);
      return going('RestoringMembers', describeProgress(scope, decision.members, prepared, troubleOf), soonMs);
    }
    case 'Mark':
      await markClaims(scope, request, run);
      return going('RestoringMembers', 'noting on the volume claims that they are restored', soonMs);
    case 'CleanUp':
      await removePods(scope);
      return going('RestoringMembers', 'removing the pods that have restored');
    case 'Start':
      return degraded(
        'StartingMembers',
        'etcd and the API servers start on the restored data',
        {},
        {
          report: reported(record, { step: 'StartingMembers' }),
        },
      );
    case 'Complete':
      scope.work.cancel(prepareWork);
      return done({}, undefined, {
        report: reported(record, { step: 'Completed', completionTime: scope.now.toISOString() }),
      });
  }
}

/**
 * Writes down what is about to happen; only what has been written is done, so that it happens once. Before that the keys of
 * the backup are put where they are looked for, because nobody knows of them afterwards.
 */
async function begin(scope: Scope, restoring: Restoring): Promise<Outcome> {
  const { cluster, now } = scope;
  const { request, prepared } = restoring;
  const props = secretProps(scope, namesOf(cluster.name).secrets.encryption);
  const obstacle = await adoptKeys(scope, props, prepared?.encryptionKeys ?? []);
  if (obstacle !== undefined) return told(scope, restoring, { reason: 'BackupUnusable', message: obstacle }, retryMs);
  const record: Record = {
    request: request.id,
    backup: prepared?.backup,
    startTime: now.toISOString(),
    step: 'StoppingAPIServers',
    restoredTo: String(prepared?.manifest.revision ?? 0),
  };
  return wait('StoppingAPIServers', `backup ${prepared?.backup ?? ''} is good, the restore begins`, {
    afterMs: soonMs,
    report: { etcd: { restore: record } },
  });
}

function reported(record: Record | undefined, changes: Partial<Record>) {
  return record ? { etcd: { restore: { ...record, ...changes } } } : {};
}

/** What was prepared, if it is for this request and, once it has begun, the backup it has begun with. */
function preparedFor(
  request: RestoreRequest | undefined,
  record: Record | undefined,
  state: WorkState<PreparedBackup>,
): PreparedBackup | undefined {
  if (!request || state.kind !== 'done' || state.basis !== request.id) return undefined;
  const isOther = isBegun(request, record) && state.result.backup !== record?.backup;
  return isOther ? undefined : state.result;
}

function isBegun(request: RestoreRequest, record: Record | undefined): boolean {
  return record?.request === request.id && record.completionTime === undefined;
}

const placeMissing =
  'etcd.restore and etcd.recovery need a place for backups: set etcd.backup with the Secret of the bucket';

function wishOf(
  { cluster, hostedControlPlane, storeInquiries, world }: Scope,
  { request, record }: Restoring,
): BackupWish {
  const store = cluster.spec.etcd.backup;
  if (!store) {
    throw new InvalidConfiguration('BackupSecretInvalid', placeMissing);
  }
  const begunWith = isBegun(request, record) ? record?.backup : undefined;
  return {
    owner: request.owner,
    isOwn: isDeepStrictEqual(request.owner, ownerOf(cluster)),
    choice: begunWith === undefined ? request.choice : { kind: 'backup', id: begunWith },
    namespace: hostedControlPlane.metadata.namespace,
    store,
    storeInquiries,
    survivors: {
      known: knownMembers(cluster, watchedMemberObjects(cluster, world)),
      openEtcd: () => openEtcd(cluster, world),
      kubernetesVersion: cluster.spec.version,
    },
    etcdVersion: etcdVersion(cluster.spec),
    clock: systemClock,
  };
}

/** Has the backup chosen and checked beside the queue, and says how that goes. */
function prepare(scope: Scope, restoring: Restoring): Outcome {
  const { work, now } = scope;
  const { request, record } = restoring;
  const isChecked = isBegun(request, record);
  const state = work.state<PreparedBackup>(prepareWork);
  const isCurrent = state.kind !== 'idle' && state.basis === request.id;
  if (!scope.cluster.spec.etcd.backup)
    return told(scope, restoring, { reason: 'BackupSecretInvalid', message: placeMissing });
  if (state.kind === 'failed' && isCurrent && now.getTime() < state.at.getTime() + retryMs) {
    return told(scope, restoring, failureOf(state.error), retryMs);
  }
  if (state.kind === 'running' && !isCurrent) work.cancel(prepareWork);
  if (state.kind !== 'running' || !isCurrent) {
    const wish = wishOf(scope, restoring);
    work.start(prepareWork, request.id, (context) => prepareBackup(wish, { isChecked }, context));
  }
  const progress = state.kind === 'running' ? state.progress : 'choosing the backup';
  return told(scope, restoring, { reason: 'CheckingBackup', message: progress });
}

interface Trouble {
  readonly reason: ConditionReason;
  readonly message: string;
}

function failureOf(error: unknown): Trouble {
  const message = messageOf(error);
  if (error instanceof BackupNotFound) return { reason: 'BackupNotFound', message };
  if (error instanceof InvalidConfiguration) return { reason: error.reason, message };
  if (error instanceof StoreError && error.reason !== 'ObjectNotFound') return { reason: 'StoreUnavailable', message };
  return { reason: 'BackupUnusable', message };
}

/** What is there goes on as long as nothing was touched; a new control plane must not start empty instead. */
function told(scope: Scope, { request, record }: Restoring, { reason, message }: Trouble, afterMs?: number): Outcome {
  const isFree = !isBegun(request, record) && hasData(scope);
  if (!isFree) return wait(reason, message, afterMs === undefined ? {} : { afterMs });
  const again = afterMs === undefined ? undefined : new Date(scope.now.getTime() + afterMs);
  return degraded(reason, message, {}, { again });
}

/** Whether there is an etcd that could go on. One whose restore has begun and was replaced by another cannot. */
function hasData({ hostedControlPlane: { status }, cluster, world }: Scope): boolean {
  const interrupted = status?.etcd?.restore && status.etcd.restore.completionTime === undefined;
  return !interrupted && observeWorld({ cluster, members: cluster.spec.etcd.replicas, world }).etcd.isWanted;
}

/** A report is there once members were asked; before, nothing is known, and nothing is done. */
function isQuorumLost({ etcdCare, hostedControlPlane }: Scope): boolean {
  const report = etcdCare.report();
  return (
    report !== undefined &&
    ['QuorumLost', 'DataLost'].includes(etcdHealth(report, hostedControlPlane.status?.etcd).reason)
  );
}
