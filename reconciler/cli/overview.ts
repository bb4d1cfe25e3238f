import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import type { CertificateStatus } from '../../constructs/api/certificate-status.ts';
import { type ConditionType, conditionTypes, stepTypes, usuallyFalse } from '../../constructs/api/conditions.ts';
import type { Condition, HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import { formatEndpoint } from '../../constructs/cluster/facts.ts';
import { isIgnored, type State, stateOf } from '../reconcile/status/state.ts';
import { isFault } from '../reconcile/status/waited-for.ts';
import { clusterOf } from '../clusters/management/owning-cluster.ts';

/** A condition, as a person judges it. */
export interface Step {
  readonly type: ConditionType;
  /** `off`: the spec asks for none of it; `ignored`: a part of the spec has no effect. */
  readonly state: 'ok' | 'off' | 'waits' | 'fails' | 'ignored' | 'unknown';
  readonly reason: string;
  readonly since: string;
  readonly message: string;
}

/** What a HostedControlPlane says of itself, also one whose spec is refused: the shape of a control plane in `-o json|yaml`. */
export interface Overview {
  readonly namespace: string;
  readonly cluster: string;
  /** Name of the HostedControlPlane. */
  readonly name: string;
  /** What all API servers serve; null before one does. */
  readonly version: string | null;
  /** What the spec asks for. */
  readonly wantedVersion: string | null;
  readonly releaseRevision: number | null;
  /** As `kubectl get hcp` has it in the column STATUS, and since when; null before anything is reported. */
  readonly state: Pick<State, 'kind' | 'text'> & { readonly since: string | null };
  readonly ready: boolean;
  readonly available: boolean;
  /** The condition that blocks, or Ready itself; null when it is Ready, or nothing is reported yet. A pause does not hide it. */
  readonly blocker: Step | null;
  readonly apiServers: { readonly ready: number; readonly total: number };
  /** Members that are ready now, of those that there are; null before the operator has reported them. */
  readonly etcd: { readonly ready: number; readonly total: number } | null;
  /** Members that have a vote, of those that there should be; null while no member runs that could say so. */
  readonly etcdMembers: { readonly voting: number; readonly total: number } | null;
  readonly certificatesNotAfter: string | null;
  readonly lastBackup: string | null;
  /** When the next backup is due; null without backups. */
  readonly nextBackup: string | null;
  /** `off`: the spec asks for none; `failing`: since then; `never`: none was taken yet. */
  readonly backups: { readonly state: 'off' | 'never' | 'failing' | 'ok'; readonly since: string | null };
  /** The Secret of the bucket, as `namespace/name`; null without backups. */
  readonly backupStore: string | null;
  /** Host and port at which clients reach it; null before they are known. */
  readonly endpoint: string | null;
  readonly created: string | null;
  /** When the API server has answered for the first time; null before. */
  readonly initialized: string | null;
  /** The steps, in the order in which they become true. */
  readonly steps: readonly Step[];
  /** What does not work although it is Ready, or besides what blocks. */
  readonly problems: readonly Step[];
  /** Summaries that are True while something goes on. */
  readonly ongoing: readonly Step[];
  /** What of the spec is not applied yet, why, and since when. */
  readonly held: NonNullable<HostedControlPlaneStatus['held']>;
  readonly components: NonNullable<HostedControlPlaneStatus['components']>;
  /** The certificates in use: of each kind the one that expires first, and who renews it. */
  readonly certificates: readonly CertificateStatus[];
}

const voting: readonly string[] = ['Leader', 'Follower'];

/** Reads it from the object alone. */
export function overviewOf(object: HostedControlPlaneObject): Overview {
  const { metadata, spec, status } = object;
  const { name, namespace = '' } = metadata;
  const { host, port } = spec?.controlPlaneEndpoint ?? {};
  const store = spec?.etcd?.backup?.secret;
  const members = status?.etcd?.members;
  const conditionOf = (type: ConditionType) => {
    const found = status?.conditions?.find((condition) => condition.type === type);
    return found && { ...found, type };
  };
  const steps = stepTypes.flatMap((type) => conditionOf(type) ?? []).map(stepOf);
  const initialized = conditionOf('Initialized');
  const state = stateOf(status?.conditions);
  const { condition, kind } =
    state.kind === 'paused' ? stateOf(status?.conditions?.filter(({ type }) => type !== 'Paused')) : state;
  const blocker = condition && !['ready', 'impaired'].includes(kind) ? stepOf(condition) : null;
  const etcd = status?.components?.find((component) => component.name === 'etcd');
  return {
    namespace,
    cluster: clusterOf(object) ?? name,
    name,
    version: status?.version ?? null,
    wantedVersion: spec?.version ?? null,
    releaseRevision: status?.releaseRevision ?? null,
    state: { kind: state.kind, text: state.text, since: state.condition?.lastTransitionTime ?? null },
    ready: conditionOf('Ready')?.status === 'True',
    available: conditionOf('Available')?.status === 'True',
    blocker,
    apiServers: { ready: status?.readyReplicas ?? 0, total: status?.replicas ?? 0 },
    etcd: etcd ? { ready: etcd.readyReplicas ?? 0, total: etcd.replicas ?? 0 } : null,
    etcdMembers:
      members && (etcd?.readyReplicas ?? 1) > 0
        ? { voting: members.filter(({ role }) => voting.includes(role)).length, total: members.length }
        : null,
    certificatesNotAfter: status?.certificatesNotAfter ?? null,
    lastBackup: status?.etcdLastBackupTime ?? null,
    nextBackup: status?.etcdNextBackupTime ?? null,
    backups: backupsOf(object, steps),
    backupStore: store?.name === undefined ? null : `${store.namespace ?? namespace}/${store.name}`,
    endpoint: host === undefined || port === undefined ? null : formatEndpoint({ host, port }),
    created: metadata.creationTimestamp ?? null,
    initialized: initialized?.status === 'True' ? initialized.lastTransitionTime : null,
    steps,
    problems: conditionTypes
      .filter((type) => !['Ready', 'Available', blocker?.type, ...usuallyFalse].includes(type))
      .flatMap((type) => conditionOf(type) ?? [])
      .map(stepOf)
      .filter((step) => ['fails', 'ignored'].includes(step.state)),
    ongoing: usuallyFalse.flatMap((type) => {
      const condition = conditionOf(type);
      return condition?.status === 'True' ? [stepOf(condition)] : [];
    }),
    held: status?.held ?? [],
    components: status?.components ?? [],
    certificates: status?.certificates ?? [],
  };
}

function backupsOf({ spec, status }: HostedControlPlaneObject, steps: readonly Step[]): Overview['backups'] {
  if (spec?.etcd?.backup === undefined) return { state: 'off', since: null };
  const step = steps.find(({ type }) => type === 'EtcdBackupReady');
  if (step?.state === 'fails') return { state: 'failing', since: step.since };
  return { state: status?.etcdLastBackupTime === undefined ? 'never' : 'ok', since: null };
}

function stepOf(condition: Condition & { readonly type: ConditionType }): Step {
  const { type, reason, message, lastTransitionTime: since } = condition;
  return { type, state: judged(condition), reason, since, message };
}

function judged(condition: Condition & { readonly type: ConditionType }): Step['state'] {
  if (isIgnored(condition)) return 'ignored';
  if (condition.status === 'Unknown') return 'unknown';
  if (isFault(condition)) return 'fails';
  if (condition.status === 'False') return 'waits';
  return condition.reason === 'NotRequested' ? 'off' : 'ok';
}
