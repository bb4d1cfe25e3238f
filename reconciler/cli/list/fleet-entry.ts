import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { formatEndpoint } from '../../../constructs/cluster/facts.ts';
import { clusterOf } from '../control-plane.ts';
import { blockerOf, conditionOf, type StoredControlPlane } from '../control-plane-state.ts';

/** One control plane of a fleet. Fields may be added; existing fields never change their meaning. */
export interface FleetEntry {
  readonly namespace: string;
  readonly cluster: string;
  /** What all API servers serve; null before one does. */
  readonly version: string | null;
  /** What the spec asks for. */
  readonly wantedVersion: string | null;
  readonly releaseRevision: number | null;
  readonly ready: boolean;
  readonly available: boolean;
  /** Of the condition that blocks, or of Ready itself; null when it is Ready. */
  readonly blocker: {
    readonly type: ConditionType;
    readonly reason: string;
    readonly since: string;
    readonly message: string;
  } | null;
  readonly apiServers: { readonly ready: number; readonly total: number };
  /** Members that have a vote, of those that there should be; null before etcd is known. */
  readonly etcdMembers: { readonly voting: number; readonly total: number } | null;
  readonly certificatesNotAfter: string | null;
  readonly lastBackup: string | null;
  /** Host and port at which clients reach it; null before they are known. */
  readonly endpoint: string | null;
  readonly created: string | null;
}

const voting: readonly string[] = ['Leader', 'Follower'];

/** What its HostedControlPlane says. */
export function entryOf(object: StoredControlPlane): FleetEntry {
  const { metadata, spec, status } = object;
  const blocker = blockerOf(object);
  const members = status?.etcd?.members;
  return {
    namespace: metadata.namespace ?? '',
    cluster: clusterOf(object) ?? metadata.name,
    version: status?.version ?? null,
    wantedVersion: spec?.version ?? null,
    releaseRevision: status?.releaseRevision ?? null,
    ready: conditionOf(object, 'Ready')?.status === 'True',
    available: conditionOf(object, 'Available')?.status === 'True',
    blocker: blocker
      ? { type: blocker.type, reason: blocker.reason, since: blocker.lastTransitionTime, message: blocker.message }
      : null,
    apiServers: { ready: status?.readyReplicas ?? 0, total: status?.replicas ?? 0 },
    etcdMembers: members
      ? { voting: members.filter(({ role }) => voting.includes(role)).length, total: members.length }
      : null,
    certificatesNotAfter: status?.certificatesNotAfter ?? null,
    lastBackup: status?.etcdLastBackupTime ?? null,
    endpoint: endpointOf(object),
    created: metadata.creationTimestamp ?? null,
  };
}

function endpointOf({ spec }: StoredControlPlane): string | null {
  const { host, port } = spec?.controlPlaneEndpoint ?? {};
  return host === undefined || port === undefined ? null : formatEndpoint({ host, port });
}
