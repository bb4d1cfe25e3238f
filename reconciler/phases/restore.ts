import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { degraded, done, type Outcome, wait } from '../engine/outcome.ts';
import { adoptKeys } from '../restore/adopt-keys.ts';
import {
  describeProgress,
  holdMembers,
  holdServers,
  markClaims,
  removePods,
  restoreMembers,
} from '../restore/execute.ts';
import { planRestore, type RestoreDecision } from '../restore/plan.ts';
import { observeRestore, problemOf } from '../restore/observe.ts';
import { reportBlocker } from '../restore/blocker.ts';
import { prepare, retryMs } from '../restore/prepare-in-background.ts';
import { prepareWork, type RestoreRecord, type Restoring, restoringOf } from '../restore/restoring.ts';
import { restoreSourceOf } from '../restore/source.ts';
import { phase, type Scope } from './scope.ts';
import { etcdCertificates } from './certificates.ts';
import { secretProps } from '../pki/secret-props.ts';

/**
 * Replaces the data of etcd by a backup when the spec asks for it. From the moment on that data is taken out of use, etcd
 * and the API servers wait for it; before, and when it cannot begin, what is there goes on.
 */
export const restore = phase({
  condition: 'EtcdRestoreReady',
  needs: [etcdCertificates],
  async run(scope): Promise<Outcome> {
    const { cluster, reader } = scope;
    const { request, record, run, prepared } = restoringOf(scope);

    const decision = planRestore({
      request: request?.id,
      record: record && { request: record.request, isComplete: record.completionTime !== undefined },
      run,
      isPrepared: prepared !== undefined,
      ...observeRestore({ cluster, members: cluster.spec.etcd.replicas, reader }),
    });

    return request ? act(scope, { request, record, run, prepared }, decision) : withoutRequest(decision);
  },
});

/** Soon enough for whoever waits for pods of which nothing else tells, and for a status that was just written. */
const soonMs = 500;

function withoutRequest({ kind }: RestoreDecision): Outcome {
  if (kind !== 'withdrawn') return done();
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
    case 'nothing':
      return done();
    case 'withdrawn':
      return withoutRequest(decision);
    case 'prepare':
    case 'prepareAgain':
      return prepare(scope, restoring);
    case 'begin':
      return begin(scope, restoring);
    case 'stopServers':
      await holdServers(scope, decision.workloads);
      return going('StoppingAPIServers', `waiting for the end of ${decision.pods.join(', ') || 'nothing'}`);
    case 'stopMembers':
      await holdMembers(scope);
      return going('StoppingMembers', `waiting for the end of ${decision.pods.join(', ') || 'nothing'}`);
    case 'restore': {
      if (!prepared || !record) return prepare(scope, restoring);
      const source = restoreSourceOf(scope, restoring);
      await restoreMembers(scope, { source, prepared, run, startTime: record.startTime }, decision);
      return going('RestoringMembers', describeProgress(scope, decision.members, prepared, problemOf), soonMs);
    }
    case 'mark':
      await markClaims(scope, request, run);
      return going('RestoringMembers', 'noting on the volume claims that they are restored', soonMs);
    case 'cleanUp':
      await removePods(scope);
      return going('RestoringMembers', 'removing the pods that have restored');
    case 'start':
      return degraded(
        'StartingMembers',
        'etcd and the API servers start on the restored data',
        {},
        {
          report: reported(record, { step: 'StartingMembers' }),
        },
      );
    case 'complete':
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
  const blocker = await adoptKeys(scope, props, prepared?.encryptionKeys ?? []);
  if (blocker !== undefined)
    return reportBlocker(scope, restoring, { reason: 'BackupUnusable', message: blocker }, retryMs);
  const record: RestoreRecord = {
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

function reported(record: RestoreRecord | undefined, changes: Partial<RestoreRecord>) {
  return record ? { etcd: { restore: { ...record, ...changes } } } : {};
}
