import type {
  DeploymentObject,
  PersistentVolumeClaimObject,
  PersistentVolumeObject,
  StatefulSetObject,
} from '../../imports/kubernetes.ts';
import { fieldManager, keptVolumeAnnotation, pausedAnnotation } from '../../constructs/api/group.ts';
import { PersistentVolume, PersistentVolumeClaim, Pod, type Resource, Secret } from '../../constructs/api/resources.ts';
import { managedByLabel, selectorOf } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ImportContext } from './import-context.ts';
import type { NamedObject } from './other-control-plane.ts';
import type { ImportInput, Running } from './plan-import.ts';
import type { ImportRecord } from './record.ts';

/** What runs a component of the other provider. */
export type Workload = DeploymentObject | StatefulSetObject;

/** What an import observes with. */
type Reader = Pick<ImportContext, 'client' | 'namespace' | 'cluster' | 'other'>;

/** The pods of a workload. */
export async function podsOf(
  { client, namespace }: Pick<Reader, 'client' | 'namespace'>,
  { spec }: Workload,
): Promise<KubeObject[]> {
  const labelSelector = selectorOf(spec?.selector?.matchLabels ?? {});
  return (await client.list(Pod, { namespace, labelSelector })).items;
}

/** An object that still belongs to the other provider. */
interface Leftover {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** Observes an import. Whatever the step is, each part is observed again: a person may have changed it meanwhile. */
export async function observeImport(context: ImportContext): Promise<ImportInput> {
  const { other, record, controlPlane } = context;
  const { spec, metadata } = controlPlane.object;
  const isPaused = metadata.annotations?.[pausedAnnotation] !== undefined;
  const [volumes, servers, etcd, leftovers, missingSecrets] = await Promise.all([
    volumesOf(context),
    running(context, other.servers),
    running(context, other.etcd ? [other.etcd.set] : []),
    findLeftovers(context, record),
    missing(context, record),
  ]);
  const snapshot = record?.snapshot;
  return {
    isHandedOver: snapshot !== undefined && spec.etcd.restore?.backup === snapshot && !isPaused,
    isPaused,
    hasRecord: record !== undefined,
    unkeptVolumes: volumes.filter((volume) => !isKept(volume)).map(({ metadata: { name } }) => name),
    servers,
    isStopRecorded: record?.stopped !== undefined,
    snapshot,
    etcd,
    leftovers: leftovers.map(({ object }) => `${object.kind} ${object.metadata.name}`),
    missingSecrets,
  };
}

/** The volumes with the data of the other provider, while their claims exist. */
export async function volumesOf(reader: Reader): Promise<PersistentVolumeObject[]> {
  const claims = await claimsOf(reader);
  const found = await Promise.all(
    claims.flatMap(({ spec }) =>
      spec?.volumeName ? [reader.client.find<PersistentVolumeObject>(PersistentVolume, { name: spec.volumeName })] : [],
    ),
  );
  return found.filter((volume) => volume !== undefined);
}

/** Whether the volume outlives its claim, and an import will find it. */
function isKept({ spec, metadata }: PersistentVolumeObject): boolean {
  return spec?.persistentVolumeReclaimPolicy === 'Retain' && metadata.annotations?.[keptVolumeAnnotation] !== undefined;
}

/** Objects that would get in the way of the new control plane: the operator has not made them. */
export async function findLeftovers(
  reader: Reader,
  record: Pick<ImportRecord, 'secrets'> | undefined,
): Promise<Leftover[]> {
  const { client, namespace, cluster, other } = reader;
  // Under these names the operator takes a Secret of another client for one of the user.
  const taken = [...(record?.secrets ?? []).map(({ name }) => name), namesOf(cluster).secrets.kubeconfig];
  const names = [...other.leftovers, ...taken.map((name) => ({ resource: Secret, name }))];
  const unique = new Map(names.map((one) => [`${one.resource.kind} ${one.name}`, one]));
  const found = await Promise.all(
    [...unique.values()].map(async ({ resource, name }) => {
      const object = await client.find(resource, { namespace, name });
      return object && isForeign(object) ? [{ resource, object: { ...object, kind: resource.kind } }] : [];
    }),
  );
  const claims = await claimsOf(reader);
  return [...found.flat(), ...claims.map((object) => ({ resource: PersistentVolumeClaim, object }))];
}

async function claimsOf({ client, namespace, other }: Reader): Promise<PersistentVolumeClaimObject[]> {
  if (!other.etcd) return [];
  const { set, claimTemplate } = other.etcd;
  const prefix = `${claimTemplate}-${set.name}-`;
  const { items } = await client.list<PersistentVolumeClaimObject>(PersistentVolumeClaim, { namespace });
  return items.filter(
    (claim) =>
      claim.metadata.name.startsWith(prefix) &&
      /^\d+$/.test(claim.metadata.name.slice(prefix.length)) &&
      isForeign(claim),
  );
}

async function running(reader: Reader, workloads: readonly NamedObject[]): Promise<Running> {
  const { client, namespace } = reader;
  const found = await Promise.all(
    workloads.map(async ({ resource, name }) => {
      const workload = await client.find<Workload>(resource, { namespace, name });
      if (!workload || !isForeign(workload)) return { wanted: [], pods: [] };
      const pods = (await podsOf(reader, workload)).filter(isForeign);
      const wanted = (workload.spec?.replicas ?? 1) > 0 ? [name] : [];
      return { wanted, pods: pods.map(({ metadata }) => metadata.name) };
    }),
  );
  return { wanted: found.flatMap(({ wanted }) => wanted), pods: found.flatMap(({ pods }) => pods) };
}

async function missing({ client, namespace }: Reader, record: ImportRecord | undefined): Promise<string[]> {
  const found = await Promise.all(
    (record?.secrets ?? []).map(async ({ name }) => {
      const secret = await client.find(Secret, { namespace, name });
      return secret && !isForeign(secret) ? [] : [name];
    }),
  );
  return found.flat();
}

/** Whether the operator has not made the object: its label is on all objects of this provider, and on none of another one. */
export function isForeign({ metadata }: KubeObject): boolean {
  return metadata.labels?.[managedByLabel] !== fieldManager;
}
