import type { StatefulSetObject } from '../../imports/kubernetes.ts';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { ConfigMap, StatefulSet } from '../../constructs/api/resources.ts';
import { controlPlaneChart } from './charts.ts';
import type { RenderedName } from '../kube/rendering.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { etcdQuotaBytes } from '../../constructs/control-plane/etcd/config.ts';
import { recordUser } from '../etcd/claim-user.ts';
import { type MemberFacts, memberFacts, writtenStarts } from '../etcd/etcd-facts.ts';
import { isFormationRecorded, recordedClusterId, recordFormation } from '../etcd/formation.ts';
import { knownMembers, readMemberObjects, watchedMemberObjects } from '../etcd/member-objects.ts';
import { removeProbes } from '../etcd/placement-probe.ts';
import { progressOf } from '../etcd/progress.ts';
import { type EtcdReport, reportedQuotaUsage } from '../etcd/report.ts';
import { statusOfEtcd } from '../etcd/status-members.ts';
import { planStorageClass, type StorageClassDecision } from '../etcd/storage-class.ts';
import { describeTerminating, terminatingVolumes } from '../etcd/terminating-volumes.ts';
import { heldTemplate } from '../etcd/try-rollout.ts';
import { refusalKeptMs } from '../clusters/management/view.ts';
import { nextHibernationStep } from '../run-state/observe-hibernation.ts';
import { isPrepared } from '../run-state/move-record.ts';
import { stop } from '../run-state/stop.ts';
import { planVolumes, type VolumePlan, type VolumeProblem, type Volumes, volumeUsage } from '../etcd/volume-size.ts';
import { growRetryMs, growClaims, observeVolumes } from '../etcd/volumes.ts';
import { podProblemMeanwhile, podProblemOf, unstablePods } from '../clusters/pods/wait-for-pods.ts';
import { noting, unlessRefused } from '../engine/refusals.ts';
import { isControlledBy, type KubeObject } from '../kube/object.ts';
import { presentRevision } from '../kube/readiness.ts';
import { degraded, done, type Outcome, wait } from '../engine/outcome.ts';
import type { StatusReport } from '../engine/status-report.ts';
import { phase, type Scope } from './scope.ts';
import { etcdCertificates } from './certificates.ts';
import { restore } from './restore.ts';

/** The etcd cluster. No other phase waits for its health, because an unhealthy member must not stop other phases. */
export const etcd = phase({
  condition: 'EtcdClusterReady',
  needs: [etcdCertificates, restore],
  meanwhile: (scope) => podProblemMeanwhile('etcd', scope),
  async run(scope): Promise<Outcome> {
    const { cluster, reader, writer } = scope;
    const rest = nextHibernationStep(scope);
    if (rest.kind === 'stopMembers') {
      await stop(scope, rest);
      return wait('StoppingMembers', 'etcd: its members stop, and their volumes stay');
    }
    if (rest.kind === 'asleep') return wait('Hibernated', 'etcd: its members are stopped, and their volumes stay');
    const volumes = observeVolumes(cluster.name, reader, scope.etcdLoop.report()?.observation);
    const plan = planVolumes(cluster, volumes);
    const choice = scope.etcdVersion;
    const starts = startsOf(scope);
    const storage = await storageClassOf(scope, starts.isFormed);
    if (storage.kind === 'replace') {
      for (const [resource, object] of storage.objects) await writer.delete(resource, object);
      return wait('WaitingForMembers', 'etcd: its volume claims are created again with the StorageClass of the spec');
    }
    const { version, image, releaseRevision } = choice;
    const facts = { etcd: { ...starts, ...volumeFacts(plan, storage), version, image, releaseRevision } };

    const { set, isWritten, held, refusal, failure } = await write(scope, { ...scope.facts, ...facts }, plan);
    // Without a StatefulSet there are no members.
    if (failure && !set) throw failure.error;
    const problem = terminatingOf(scope) ?? held ?? choice.problem ?? storage.problem ?? refusal ?? plan.problem;
    // The loop reconciles members whatever was not written.
    const report = await scope.etcdLoop.observe({
      cluster,
      goal: {
        replicas: (isWritten ? undefined : set?.spec?.replicas) || cluster.spec.etcd.replicas,
        revision: presentRevision(set),
        cause: 'requested',
        quotaBytes: etcdQuotaBytes(cluster, facts.etcd.volumeSize),
      },
      isFormed: facts.etcd.isFormed,
      reader,
      writer,
    });
    if (failure) throw failure.error;
    if (!isPrepared(scope.hostedControlPlane.metadata)) await recordFormation(scope, report?.observation);
    if (set) await unlessRefused(scope, set, recordUser(scope, report?.observation));
    const found = { report: reportOf(scope, volumes, plan, report) };
    const progress = progressOf(set, report);
    if (!progress.isDone) {
      const { podProblem, afterMs } = await podProblemOf('etcd', scope);
      const message = [`etcd: ${progress.message}`, podProblem?.message, problem?.message].filter(Boolean).join('; ');
      const isFailing = podProblem?.reason === 'PodsFailing' && progress.reason === 'WaitingForMembers';
      const isEnding = problem?.reason === 'VolumesTerminating';
      const reason = isEnding ? problem.reason : isFailing ? podProblem.reason : progress.reason;
      return wait(reason, message, { facts, ...found, afterMs: problem ? retryMs(problem) : afterMs });
    }
    const unstable = unstablePods('etcd', scope);
    if (unstable)
      return wait('PodsFailing', `etcd: ${unstable.message}`, { facts, ...found, afterMs: unstable.afterMs });
    if (problem)
      return degraded(problem.reason, problem.message, { facts, ...found, requeueAt: later(scope, problem) });
    return done(facts, undefined, { ...found, message: choice.note ?? growthOf(plan) });
  },
});

function terminatingOf(scope: Scope) {
  const { claims } = terminatingVolumes(scope);
  if (claims.length === 0) return undefined;
  return {
    reason: 'VolumesTerminating',
    message: describeTerminating(claims, scope.cluster.spec.etcd.replicas),
  } as const;
}

interface Written {
  readonly set: StatefulSetObject | undefined;
  /** Whether the StatefulSet and the configuration of members are as they should be. */
  readonly isWritten: boolean;
  /** Why the StatefulSet keeps its template. */
  readonly held?: Problem | undefined;
  readonly refusal?: VolumeProblem | undefined;
  readonly failure?: { readonly error: unknown };
}

/** Writes all objects of etcd, as far as the API server takes them. */
async function write(scope: Scope, facts: Facts, plan: VolumePlan): Promise<Written> {
  const { cluster, reader, writer } = scope;
  const present = reader.get<StatefulSetObject>(StatefulSet, namesOf(cluster.name).etcd);
  let isWritten = true;
  const onRefused = noting(scope, () => (isWritten = false));
  try {
    const rendered = controlPlaneChart(cluster, facts, 'etcd');
    const tried = heldTemplate(scope, rendered).then((problem) => ({ problem }));
    // A refusal of the StatefulSet itself is noted.
    const asked = await unlessRefused({ onRefused }, setOf(cluster), tried);
    const held = asked?.problem;
    const isOther = ({ kind }: RenderedName) => kind !== StatefulSet.kind;
    const live = await writer.apply(rendered, { onRefused, only: held || !asked ? isOther : undefined });
    if (!held) await removeProbes(scope);
    const refusal = await growClaims(cluster.name, plan, scope);
    const applied = live.find(({ kind }) => kind === StatefulSet.kind);
    return { set: applied ?? present, isWritten: isWritten && !held, held, refusal };
  } catch (error) {
    return { set: present, isWritten: false, failure: { error } };
  }
}

/** Names the StatefulSet in a refusal. */
function setOf({ name, namespace }: Scope['cluster']): KubeObject {
  const { apiVersion, kind } = StatefulSet;
  return { apiVersion, kind, metadata: { namespace, name: namesOf(name).etcd } };
}

function startsOf({ cluster, hostedControlPlane, reader, etcdLoop }: Scope): MemberFacts {
  const { metadata, status } = hostedControlPlane;
  const isRecorded = status?.etcd?.clusterID !== undefined || isFormationRecorded(metadata);
  // A predecessor that was deleted without its dependents has left its files, which do not describe the etcd of this object.
  const files = reader.get(ConfigMap, namesOf(cluster.name).etcdMembers);
  const isOwn = isRecorded || (files !== undefined && isControlledBy(files, metadata.uid));
  return memberFacts({
    cluster,
    replicas: cluster.spec.etcd.replicas,
    isRecorded,
    members: knownMembers(cluster, watchedMemberObjects(cluster, reader)),
    observation: etcdLoop.report()?.observation,
    written: isOwn ? writtenStarts(cluster.name, reader) : [],
  });
}

/** Decides about a replacement twice, the second time from claims that are read right before it. */
async function storageClassOf({ cluster, reader, writer }: Scope, isFormed: boolean): Promise<StorageClassDecision> {
  const wanted = cluster.spec.etcd.storageClassName;
  const set = reader.get<StatefulSetObject>(StatefulSet, namesOf(cluster.name).etcd);
  const { claims } = watchedMemberObjects(cluster, reader);
  const plan = planStorageClass({ wanted, set, claims, isFormed });
  if (plan.kind === 'render') return plan;
  const live = await readMemberObjects(cluster, writer);
  return planStorageClass({ wanted, set, claims: live.claims, isFormed });
}

function volumeFacts(
  { quotaSize, templateSize }: VolumePlan,
  { storageClass }: Extract<StorageClassDecision, { kind: 'render' }>,
) {
  return { volumeSize: quotaSize, templateVolumeSize: templateSize, templateStorageClass: storageClass };
}

function reportOf(
  { hostedControlPlane: { metadata, status } }: Scope,
  { fileBytes }: Volumes,
  { quotaSize }: VolumePlan,
  report: EtcdReport | undefined,
): StatusReport {
  const etcdVolumeUsage =
    fileBytes === undefined ? undefined : volumeUsage(fileBytes, quotaSize, status?.etcdVolumeUsage);
  const quotaPercent =
    report?.quotaUsage === undefined ? undefined : reportedQuotaUsage(report.quotaUsage, status?.etcd?.quotaPercent);
  return {
    ...definedOnly({
      etcdVolumeUsage,
      etcdLastAttemptedDefragTime: report?.defragmentationAttemptedAt?.toISOString(),
      etcdLastDefragTime: report?.defragmentedAt?.toISOString(),
    }),
    etcd: {
      ...definedOnly({ clusterID: status?.etcd?.clusterID ?? recordedClusterId(metadata), quotaPercent }),
      ...(report ? statusOfEtcd(report.observation) : {}),
    },
  };
}

interface Problem {
  readonly reason: ConditionReason<'EtcdClusterReady'>;
  readonly message: string;
}

/** A StorageClass may allow expansion later, and a quota be raised, which no event reports. */
function retryMs({ reason }: Problem): number {
  return reason === 'RolloutRefused' || reason === 'RollingOut' ? refusalKeptMs : growRetryMs;
}

function later({ now }: Scope, problem: Problem): Date {
  return new Date(now.getTime() + retryMs(problem));
}

function growthOf({ size, quotaSize }: VolumePlan): string | undefined {
  return size === quotaSize ? undefined : `the operator expands the volumes of etcd from ${quotaSize} to ${size}`;
}
