import type { PersistentVolumeClaimObject, PersistentVolumeObject, PodObject } from '../../imports/kubernetes.ts';
import { PersistentVolume } from '../../constructs/api/resources.ts';
import type { Writer } from '../clusters/management/view.ts';
import { type MemberObjects, volumeClaimOf } from './member-objects.ts';

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
