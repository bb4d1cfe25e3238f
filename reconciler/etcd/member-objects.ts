import type { PersistentVolumeClaimObject, PersistentVolumeObject, PodObject } from '../../imports/kubernetes.ts';
import { PersistentVolume, PersistentVolumeClaim, Pod } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { etcdMember, etcdMemberHost, etcdVolumeClaim, namesOf } from '../../constructs/cluster/names.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import type { Reader, Writer } from '../clusters/management/view.ts';
import { damageIn } from './damage.ts';
import type { MemberClaim, MemberPod } from './members.ts';
import type { KnownMember } from './observe-members.ts';
import { markOf } from './volume-mark.ts';

/** The objects of the members of one etcd cluster in the management cluster. */
export interface MemberObjects {
  readonly pods: readonly PodObject[];
  readonly claims: readonly PersistentVolumeClaimObject[];
}

interface ClusterName {
  readonly name: string;
  readonly namespace: string;
}

/** The objects as the watches know them. */
export function watchedMemberObjects(cluster: ClusterName, reader: Reader): MemberObjects {
  const labels = selectorLabels(cluster.name, 'etcd');
  return { pods: reader.list(Pod, labels), claims: reader.list(PersistentVolumeClaim, labels) };
}

/** The objects as the API server returns them. */
export async function readMemberObjects(cluster: ClusterName, writer: Writer): Promise<MemberObjects> {
  const labels = selectorLabels(cluster.name, 'etcd');
  const [pods, claims] = await Promise.all([
    writer.readAll<PodObject>(Pod, labels),
    writer.readAll<PersistentVolumeClaimObject>(PersistentVolumeClaim, labels),
  ]);
  return { pods, claims };
}

/**
 * Claims of pods that no node can run, because their volume is on nodes that no longer exist. Sends no requests while
 * every pod has a node.
 */
export async function strandedClaims(
  objects: MemberObjects,
  writer: Writer,
): Promise<ReadonlySet<PersistentVolumeClaimObject>> {
  const waiting = objects.pods.filter(isUnschedulable).flatMap((pod) => volumeClaimOf(pod, objects) ?? []);
  const found = await Promise.all(waiting.map(async (claim) => ((await isStranded(claim, writer)) ? [claim] : [])));
  return new Set(found.flat());
}

async function isStranded({ spec }: PersistentVolumeClaimObject, writer: Writer): Promise<boolean> {
  if (!spec?.volumeName) return false;
  const volume = await writer.read<PersistentVolumeObject>(PersistentVolume, spec.volumeName);
  const hosts = hostsOf(volume);
  return hosts.length > 0 && (await writer.countNodes({ [hostLabel]: hosts })) === 0;
}

/** Distinguishes nodes; often, but not always, their name. */
const hostLabel = 'kubernetes.io/hostname';

/** Hosts to which the volume is bound; none if it can also be elsewhere, such as anywhere in a zone. */
function hostsOf(volume: PersistentVolumeObject | undefined): readonly string[] {
  const terms = volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const hosts = terms.map(({ matchExpressions = [] }) =>
    matchExpressions.find(({ key, operator }) => key === hostLabel && operator === 'In'),
  );
  return hosts.every((expression) => expression !== undefined) ? hosts.flatMap(({ values = [] }) => values) : [];
}

function isUnschedulable({ status }: PodObject): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'PodScheduled' && value === 'False') ?? false;
}

/** The largest number of members in a spec. A registered member may have neither pod nor claim. */
const mostMembers = 5;

/**
 * All possible members, by ordinal.
 * @param stranded claims whose volumes are permanently unreachable
 */
export function knownMembers(
  cluster: ClusterName,
  objects: MemberObjects,
  stranded: ReadonlySet<PersistentVolumeClaimObject> = new Set(),
): KnownMember[] {
  const ordinals = Array.from({ length: Math.max(mostMembers, ...ordinalsOf(cluster, objects)) }, (_, index) => index);
  return ordinals.map((ordinal) => {
    const pod = podOf(cluster, objects, ordinal);
    const claim = claimOf(cluster, objects, ordinal);
    return {
      ordinal,
      name: etcdMember(cluster.name, ordinal),
      peerUrl: etcdPeerUrl(cluster, ordinal),
      pod: pod && memberPod(pod),
      claim: claim && memberClaim(claim, stranded.has(claim)),
    };
  });
}

/** The URL at which other members reach this one, and by which it is registered. */
export function etcdPeerUrl(cluster: ClusterName, ordinal: number): string {
  return `https://${etcdMemberHost(cluster, ordinal)}:${ports.etcdPeer}`;
}

/** The ordinal at the end of the name of a member. */
export function ordinalOf(member: string): number {
  return Number(member.slice(member.lastIndexOf('-') + 1));
}

export function podOf({ name }: ClusterName, { pods }: MemberObjects, ordinal: number): PodObject | undefined {
  return pods.find(({ metadata }) => metadata.name === etcdMember(name, ordinal));
}

export function claimOf(
  { name }: ClusterName,
  { claims }: MemberObjects,
  ordinal: number,
): PersistentVolumeClaimObject | undefined {
  return claims.find(({ metadata }) => metadata.name === etcdVolumeClaim(name, ordinal));
}

/** The claim of the data volume of a pod. */
function volumeClaimOf({ metadata }: PodObject, { claims }: MemberObjects): PersistentVolumeClaimObject | undefined {
  return claims.find((claim) => claim.metadata.name.endsWith(`-${metadata.name}`));
}

/** One more than each ordinal that has a pod or a claim. */
function ordinalsOf({ name }: ClusterName, { pods, claims }: MemberObjects): number[] {
  const prefixes = [`${namesOf(name).etcd}-`, etcdVolumeClaim(name, 0).slice(0, -1)];
  return [...pods, ...claims].flatMap(({ metadata }) =>
    prefixes.flatMap((prefix) => {
      const digits = metadata.name.startsWith(prefix) ? metadata.name.slice(prefix.length) : '';
      return /^\d{1,3}$/.test(digits) ? [Number(digits) + 1] : [];
    }),
  );
}

function memberPod({ metadata, status }: PodObject): MemberPod {
  const etcd = status?.containerStatuses?.find(({ name }) => name === 'etcd');
  return {
    uid: metadata.uid ?? '',
    revision: metadata.labels?.[revisionLabel] ?? '',
    isTerminating: metadata.deletionTimestamp !== undefined,
    isRunning: etcd?.state?.running !== undefined,
    isReady: etcd?.ready ?? false,
    restarts: etcd?.restartCount ?? 0,
    damage: damageIn((etcd?.state?.terminated ?? etcd?.lastState?.terminated)?.message),
  };
}

/** The template of the StatefulSet from which a pod was created. */
const revisionLabel = 'controller-revision-hash';

function memberClaim(claim: PersistentVolumeClaimObject, isStranded: boolean): MemberClaim {
  return {
    ...markOf(claim),
    isLost: isStranded || claim.status?.phase === 'Lost',
    ...(claim.metadata.deletionTimestamp === undefined ? {} : { isTerminating: true }),
  };
}
