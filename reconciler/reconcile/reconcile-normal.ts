import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { overruledArguments } from '../../constructs/ineffective-settings.ts';
import { conditionUpdate, type ConditionUpdates } from '../engine/condition-update.ts';
import { type RequeueAt, earliest } from '../engine/requeue.ts';
import { openEtcd } from '../etcd/access.ts';
import { storeReaderOf } from '../backup/store/store-reader.ts';
import { referencesOf, watchLimits } from '../clusters/management/referenced-objects.ts';
import { infrastructureOf } from '../clusters/exposure/infrastructure-endpoint.ts';
import {
  mergeFacts,
  mergeReports,
  type PhaseResult,
  phaseConditions,
  runPhases,
  throwUnexpected,
} from '../engine/run-phases.ts';
import type { Admitted } from './admit.ts';
import { desiredState, hasNewest } from '../desired-state/desired-state.ts';
import { reportHeld } from '../desired-state/held-field.ts';
import { hostedTarget } from '../clusters/hosted/target.ts';
import { newlyExpiring } from './status/newly-expiring.ts';
import { upkeepEvents } from './status/upkeep.ts';
import { argumentsOverruled, certificateExpiring, secretReplaced } from './status/events.ts';
import { inQuarantine } from './quarantine/report.ts';
import { isPrepared } from '../run-state/move-record.ts';
import type { StatusReport } from '../engine/status-report.ts';
import type { ObjectMeta } from '../kube/object.ts';
import { keptUntilObserved, observe } from './status/observe.ts';
import type { ReconcileContext } from './memory.ts';
import { prune, pruneWorkload } from './prune.ts';
import { reported } from '../desired-state/revision/believed.ts';
import { outcomeOf, type RevisionOutcome } from '../desired-state/revision/outcome.ts';
import { kept } from '../desired-state/revision/revisions.ts';
import { expiryReport } from '../certificates/expiries.ts';
import { holdSecrets, type HeldSecrets } from '../certificates/held-secret.ts';
import { phases } from './phases.ts';
import { askForAgent } from '../clusters/pods/has-agent.ts';
import { probesWith } from '../certificates/ca/trust-probes.ts';
import type { Scope } from '../phases/scope.ts';
import { observedStatus, summarize } from './status/summaries.ts';
import { observeRunState } from '../run-state/run-state.ts';
import { createWriter } from '../clusters/management/writer.ts';

/**
 * Runs every phase of an admitted HostedControlPlane, reports the results in its status, and prunes objects that are no
 * longer rendered.
 * @param updates conditions that replace those of the results
 * @throws unexpected errors of phases, after the status reports them
 */
export async function reconcileNormal(
  context: ReconcileContext,
  admission: Admitted,
  updates: ConditionUpdates = {},
): Promise<RequeueAt> {
  const scope = scopeOf(context, admission);
  const unwatched = context.memory.references.follow(context.key, referencesOf(scope.cluster));
  const held = await holdSecrets(scope);
  for (const name of held.replaced) context.options.events.record(context.object, secretReplaced(name));
  const results = await runPhases(phases, scope);

  const facts = mergeFacts(results.map((result) => result.facts));
  const outcome = hasNewest(scope) ? outcomeOf({ ...scope, facts }, results) : { goesBack: false };
  const conditions = { ...unheld(held), ...beyondLimits(unwatched, scope.cluster.namespace), ...updates };
  // An unrelated error must not keep a spec that has failed.
  await writeStatus(context, { ...scope, facts }, { results, outcome }, conditions);
  if (isAsleep(results)) await context.memory.hosted.forget(context.key);

  throwUnexpected(results);
  if (outcome.goesBack) return scope.now;
  await prune(context.memory.applySet, context.key, { cluster: scope.cluster, reader: scope.reader, facts }, results);
  const unpruned = await pruneWorkload({ ...scope, facts }, results);
  return earliest([...results.map(({ requeueAt }) => requeueAt), rolloutOf(scope).later, unpruned]);
}

/** Changes of these objects are followed late, in favour of other namespaces. */
function beyondLimits(unwatched: number, namespace: string): ConditionUpdates {
  if (unwatched === 0) return {};
  const message = `${unwatched} of the Secrets and ConfigMaps that the spec names are not watched, because control planes of namespace ${namespace} name more than its share, of at most ${watchLimits.perNamespace}: API servers follow their changes within ten minutes; mount fewer objects`;
  return { SpecSupported: conditionUpdate('False', 'TooManyReferences', message) };
}

/** Keys that are neither safe nor lost. The phases go on with what is there. */
function unheld({ problems }: HeldSecrets): ConditionUpdates {
  if (problems.length === 0) return {};
  return { CACertificatesReady: conditionUpdate('False', 'SecretsTerminating', problems.join('; ')) };
}

function scopeOf({ key, object, options, memory }: ReconcileContext, admission: Admitted): Scope {
  const { kind: _, clusterObject, ...usable } = admission;
  const {
    client,
    management,
    clock,
    operatorNamespace,
    operatorImage,
    managementNetwork,
    managementIssuer,
    platformLists,
    clusterIssuers = [],
    reach,
    destinations,
  } = options;
  const { namespace, name, uid = '' } = usable.hostedControlPlane.metadata;
  const reader = management.readerOf(namespace, clusterObject.metadata.name);
  const now = new Date(clock.now());
  const etcdLoop = memory.etcd.of(key);
  const platform = { managementIssuer, platformLists };
  const etcdReport = etcdLoop.report();
  const desired = desiredState({ object, usable, clusterObject, reader, platform, etcdReport, now });
  const { cluster, followers, hostedControlPlane } = desired;
  return {
    ...desired,
    clusterObject,
    runState: observeRunState({ hostedControlPlane, cluster, reader }),
    managementIssuer,
    clusterIssuers,
    facts: {
      certificates: {},
      mounts: {},
      owner: { name, uid, ...(holdsEtcd(cluster, hostedControlPlane.metadata) ? { holdsEtcd: true } : {}) },
      operatorNamespace,
      operatorImage,
      managementNetwork,
      rolloutAfter: rolloutOf({ cluster, now }).due,
    },
    reader,
    sharedResources: management.sharedResourcesOf(namespace, name),
    writer: createWriter({
      client,
      applySet: memory.applySet,
      management,
      key,
      namespace,
      name,
      cluster: cluster.name,
      infrastructure: infrastructureOf(clusterObject),
      requestCaches: memory.requestCaches,
    }),
    hosted: (facts) => memory.hosted.get(key, hostedTarget(followers, facts, reader)),
    endpointProbe: memory.probes.of(key),
    tunnelProbe: memory.probes.of(key, 'tunnel'),
    agentsProbe: memory.probes.of(key, 'agents'),
    podsProbe: (of) => memory.probes.of(key, `pods of ${of}`),
    hasAgent: reach?.hasAgent ?? ((address) => askForAgent(address)),
    trustProbes: reach?.trustProbes ?? probesWith(destinations),
    work: memory.work.of(key),
    etcdLoop,
    openEtcd: reach?.etcdMembers ?? openEtcd,
    clock,
    storeReader: storeReaderOf(client, { namespace, name }, destinations),
    takesRefusals: hostedControlPlane.status?.initialization?.controlPlaneInitialized === true,
    now,
    clockFault: clock.fault?.(),
  };
}

/** What a move leaves behind has no use any more. */
function holdsEtcd({ spec }: HostedCluster, metadata: ObjectMeta): boolean {
  return spec.etcd.backup?.beforeDeletion === true && !isPrepared(metadata);
}

/**
 * The requested rollout of all pods: `due` once its time has come, `later` as the time of the next reconcile before
 * that.
 */
function rolloutOf({ cluster, now }: { readonly cluster: HostedCluster; readonly now: Date }): {
  readonly due?: string;
  readonly later?: Date;
} {
  const after = cluster.spec.rollout?.after;
  if (after === undefined) return {};
  const at = new Date(after);
  return at <= now ? { due: after } : { later: at };
}

/** Whether nothing runs that could be watched. */
function isAsleep(results: readonly PhaseResult[]): boolean {
  return results.some(({ phase, update }) => phase.condition === 'Awake' && update.reason === 'Hibernated');
}

/** The records that this reconcile believes, also if their phase fails: without them the status would be that of an earlier release. */
function believedBefore({ recorded }: Scope): Pick<StatusReport, 'revisions'> {
  return { revisions: reported(kept(recorded)) };
}

function becomes({ revisions }: RevisionOutcome): Pick<StatusReport, 'revisions'> {
  return revisions === undefined ? {} : { revisions: reported(revisions) };
}

function heldFields({ held, hostedControlPlane, now }: Scope): Pick<StatusReport, 'held'> {
  return definedOnly({ held: reportHeld(held, hostedControlPlane.status?.held, now) });
}

/** @param scope with the facts of all phases */
async function writeStatus(
  { object, options, quarantined }: ReconcileContext,
  scope: Scope,
  { results, outcome }: { readonly results: readonly PhaseResult[]; readonly outcome: RevisionOutcome },
  updates: ConditionUpdates,
): Promise<void> {
  const observation = observe(scope, {
    phases: keptUntilObserved(phaseConditions(results), object),
    report: {
      ...believedBefore(scope),
      ...mergeReports(results),
      ...expiryReport(scope),
      ...becomes(outcome),
      ...heldFields(scope),
    },
    etcdReport: scope.etcdLoop.report(),
  });
  const status = observedStatus(observation);
  // Once for each change of the spec; the condition SpecSupported stays.
  if (object.metadata.generation !== scope.hostedControlPlane.status?.observedGeneration) {
    for (const overruled of overruledArguments(scope.cluster, scope.facts))
      options.events.record(object, argumentsOverruled(overruled));
  }
  const initialized = status.initialization?.controlPlaneInitialized ?? false;
  const reconciled = hasNewest(scope) ? undefined : scope.facts.revision?.generation;
  const conditions = { ...summarize(observation, initialized), ...updates, ...inQuarantine(quarantined) };
  await options.statusWriter.write(object, status, conditions, { reconciled });
  const { metadata, status: before } = scope.hostedControlPlane;
  const after = { ...status, health: conditions.EtcdClusterHealthy };
  const created = new Date(metadata.creationTimestamp ?? 0);
  for (const note of upkeepEvents(before, after, created)) options.events.record(object, note);
  for (const late of newlyExpiring(scope.hostedControlPlane.status?.certificates, status.certificates)) {
    options.events.record(object, certificateExpiring(late));
  }
}
