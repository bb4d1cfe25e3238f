import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import type { CertificateStatus } from '../../constructs/api/certificate-status.ts';
import { type ConditionType, stepTypes, usuallyFalse } from '../../constructs/api/conditions.ts';
import type { Condition, HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import { formatEndpoint } from '../../constructs/cluster/facts.ts';
import { isFault, waitedFor, withEtcdFault } from '../reconcile/status/waited-for.ts';
import { clusterOf } from './control-plane.ts';

/** A condition, as a person judges it. */
export interface Step {
  readonly type: ConditionType;
  readonly state: 'ok' | 'waits' | 'fails' | 'unknown';
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
  readonly ready: boolean;
  readonly available: boolean;
  /** The condition that blocks, or Ready itself; null when it is Ready, or nothing is reported yet. */
  readonly blocker: Step | null;
  readonly apiServers: { readonly ready: number; readonly total: number };
  /** Members that have a vote, of those that there should be; null before etcd is known. */
  readonly etcdMembers: { readonly voting: number; readonly total: number } | null;
  readonly certificatesNotAfter: string | null;
  readonly lastBackup: string | null;
  /** When the next backup is due; null without backups. */
  readonly nextBackup: string | null;
  /** The Secret of the bucket, as `namespace/name`; null without backups. */
  readonly backupStore: string | null;
  /** Host and port at which clients reach it; null before they are known. */
  readonly endpoint: string | null;
  readonly created: string | null;
  /** When the API server has answered for the first time; null before. */
  readonly initialized: string | null;
  /** The steps, in the order in which they become true. */
  readonly steps: readonly Step[];
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
  const steps = stepTypes.flatMap((type) => conditionOf(type) ?? []);
  const ready = conditionOf('Ready');
  const initialized = conditionOf('Initialized');
  const [blocking] = waitedFor(withEtcdFault(steps, conditionOf('EtcdClusterHealthy')));
  const blocker =
    ready === undefined || ready.status === 'True' ? undefined : blocking?.reason === ready.reason ? blocking : ready;
  return {
    namespace,
    cluster: clusterOf(object) ?? name,
    name,
    version: status?.version ?? null,
    wantedVersion: spec?.version ?? null,
    releaseRevision: status?.releaseRevision ?? null,
    ready: ready?.status === 'True',
    available: conditionOf('Available')?.status === 'True',
    blocker: blocker ? stepOf(blocker) : null,
    apiServers: { ready: status?.readyReplicas ?? 0, total: status?.replicas ?? 0 },
    etcdMembers: members
      ? { voting: members.filter(({ role }) => voting.includes(role)).length, total: members.length }
      : null,
    certificatesNotAfter: status?.certificatesNotAfter ?? null,
    lastBackup: status?.etcdLastBackupTime ?? null,
    nextBackup: status?.etcdNextBackupTime ?? null,
    backupStore: store?.name === undefined ? null : `${store.namespace ?? namespace}/${store.name}`,
    endpoint: host === undefined || port === undefined ? null : formatEndpoint({ host, port }),
    created: metadata.creationTimestamp ?? null,
    initialized: initialized?.status === 'True' ? initialized.lastTransitionTime : null,
    steps: steps.map(stepOf),
    ongoing: usuallyFalse.flatMap((type) => {
      const condition = conditionOf(type);
      return condition?.status === 'True' ? [stepOf(condition)] : [];
    }),
    held: status?.held ?? [],
    components: status?.components ?? [],
    certificates: status?.certificates ?? [],
  };
}

function stepOf(condition: Condition & { readonly type: ConditionType }): Step {
  const { type, status, reason, message, lastTransitionTime: since } = condition;
  const state = { True: 'ok', Unknown: 'unknown', False: isFault(condition) ? 'fails' : 'waits' } as const;
  return { type, state: state[status], reason, since, message };
}
