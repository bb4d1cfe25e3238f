import type {
  PersistentVolumeClaimObject,
  PersistentVolumeClaimSpec,
  StatefulSetObject,
} from '../../imports/kubernetes.ts';
import { quantityValue } from '../../constructs/api/quantity.ts';
import { PersistentVolumeClaim, StatefulSet } from '../../constructs/api/resources.ts';
import { etcdVolumeSizeAnnotation } from '../../constructs/control-plane/etcd/etcd.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { isRefusal } from '../kube/errors.ts';
import type { Reader, Writer } from '../clusters/management/view.ts';
import type { EtcdObservation, MemberStatus } from './members.ts';
import type { VolumePlan, Volumes, VolumeProblem } from './volume-size.ts';

/** The volumes of a cluster, and their usage if the members have been queried. */
export function observeVolumes(cluster: string, reader: Reader, observation: EtcdObservation | undefined): Volumes {
  const set = reader.get<StatefulSetObject>(StatefulSet, namesOf(cluster).etcd);
  const annotated = set?.metadata.annotations?.[etcdVolumeSizeAnnotation];
  const templateSize = requested(set?.spec?.volumeClaimTemplates?.[0]?.spec);
  return {
    claims: claimsOf(cluster, reader).map(({ spec, status }) => ({
      requested: requested(spec) ?? '0',
      capacity: status?.capacity?.['storage'],
    })),
    templateSize,
    quotaSize: isQuantity(annotated) ? annotated : templateSize,
    usedBytes: usedBytes(observation),
    fileBytes: largest(observation, ({ dbSizeBytes }) => dbSizeBytes),
  };
}

/** Retry interval for claims that cannot grow. No watch reports a change of a StorageClass. */
export const growRetryMs = 5 * 60_000;

/**
 * Makes every claim request the planned size. Volumes grow while members continue to serve.
 * @returns what a person must change, if the management cluster refuses
 */
export async function growClaims(
  cluster: string,
  { size }: VolumePlan,
  { reader, writer }: { readonly reader: Reader; readonly writer: Writer },
): Promise<VolumeProblem | undefined> {
  // Kubernetes does not allow changes to a claim that waits for its volume.
  const small = claimsOf(cluster, reader).filter(
    ({ spec, status }) => status?.phase === 'Bound' && quantityValue(requested(spec) ?? '0') < quantityValue(size),
  );
  for (const claim of small) {
    try {
      const spec = { resources: { requests: { storage: size } } };
      await writer.setFields(PersistentVolumeClaim, claim, { spec }, 'volume-size');
    } catch (error) {
      const problem = refusal(error, claim, size);
      if (!problem) throw error;
      return problem;
    }
  }
  return undefined;
}

function refusal(
  error: unknown,
  { metadata, spec }: PersistentVolumeClaimObject,
  size: string,
): VolumeProblem | undefined {
  if (!isRefusal(error) || !(error instanceof Error)) return undefined;
  const claim = `volume claim ${metadata.name} cannot grow from ${requested(spec)} to ${size}`;
  if (error.message.includes('must support resize')) {
    return {
      reason: 'VolumeNotExpandable',
      message: `${claim}: set allowVolumeExpansion: true in StorageClass ${spec?.storageClassName ?? '(none)'} if its storage supports expansion, or set etcd.maxVolumeSize to ${requested(spec)}`,
    };
  }
  const advice = error.message.includes('exceeded quota')
    ? 'raise that ResourceQuota'
    : `allow it, or set etcd.maxVolumeSize to ${requested(spec)}`;
  return { reason: 'VolumeNotExpandable', message: `${claim}: ${error.message}: ${advice}` };
}

function claimsOf(cluster: string, reader: Reader): PersistentVolumeClaimObject[] {
  return reader
    .list<PersistentVolumeClaimObject>(PersistentVolumeClaim, selectorLabels(cluster, 'etcd'))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Usage of the fullest answering member; undefined if none answers. */
export function usedBytes(observation: EtcdObservation | undefined): number | undefined {
  return largest(observation, ({ dbSizeInUseBytes }) => dbSizeInUseBytes);
}

function largest(
  observation: EtcdObservation | undefined,
  bytesOf: (status: MemberStatus) => number,
): number | undefined {
  const sizes = observation?.members.flatMap(({ status }) => (status ? [bytesOf(status)] : [])) ?? [];
  return sizes.length > 0 ? Math.max(...sizes) : undefined;
}

function requested(spec: PersistentVolumeClaimSpec | undefined): string | undefined {
  return spec?.resources?.requests?.['storage'];
}

/** Other clients can write any text to an annotation. */
function isQuantity(text: string | undefined): text is string {
  try {
    return text !== undefined && quantityValue(text) > 0;
  } catch {
    return false;
  }
}
