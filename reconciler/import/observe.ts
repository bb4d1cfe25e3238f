import type {
  DeploymentObject,
  PersistentVolumeClaimObject,
  PersistentVolumeObject,
  StatefulSetObject,
} from '../../imports/kubernetes.ts';
import { fieldManager, keptVolumeAnnotation, pausedAnnotation } from '../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import { PersistentVolume, PersistentVolumeClaim, Pod, type Resource, Secret } from '../../constructs/api/resources.ts';
import { managedByLabel, selectorOf } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/object.ts';
import type { NamedObject, OtherControlPlane } from './other-control-plane.ts';
import type { ImportInput, Running } from './plan-import.ts';
import type { ImportRecord } from './record.ts';

/** What an import observes with. */
export interface ImportReader {
  readonly client: Pick<KubeClient, 'find' | 'list'>;
  readonly namespace: string;
  readonly cluster: string;
  readonly other: OtherControlPlane;
}

/** What runs a component of the other provider. */
export type Workload = DeploymentObject | StatefulSetObject;

/** Labels by which a workload finds its pods. */
export function podLabelsOf({ spec }: Workload): Readonly<Record<string, string>> {
  return spec?.selector?.matchLabels ?? {};
}

/** An object that still belongs to the other provider. */
export interface Leftover {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** Observes an import. Whatever the step is, each part is observed again: a person may have changed it meanwhile. */
export async function observeImport(
  reader: ImportReader,
  { spec, metadata }: Pick<HostedControlPlane, 'spec' | 'metadata'>,
  record: ImportRecord | undefined,
): Promise<ImportInput> {
  const { other } = reader;
  const isPaused = metadata.annotations?.[pausedAnnotation] !== undefined;
  const [volumes, servers, etcd, leftovers, missingSecrets] = await Promise.all([
    volumesOf(reader),
    running(reader, other.servers),
    running(reader, other.etcd ? [other.etcd.set] : []),
    findLeftovers(reader, record),
    missing(reader, record),
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
export async function volumesOf(reader: ImportReader): Promise<PersistentVolumeObject[]> {
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
  reader: ImportReader,
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

async function claimsOf({ client, namespace, other }: ImportReader): Promise<PersistentVolumeClaimObject[]> {
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

async function running({ client, namespace }: ImportReader, workloads: readonly NamedObject[]): Promise<Running> {
  const found = await Promise.all(
    workloads.map(async ({ resource, name }) => {
      const workload = await client.find<Workload>(resource, { namespace, name });
      if (!workload || !isForeign(workload)) return { wanted: [], pods: [] };
      const labelSelector = selectorOf(podLabelsOf(workload));
      const { items } = await client.list(Pod, { namespace, labelSelector });
      const wanted = (workload.spec?.replicas ?? 1) > 0 ? [name] : [];
      return { wanted, pods: items.filter(isForeign).map(({ metadata }) => metadata.name) };
    }),
  );
  return { wanted: found.flatMap(({ wanted }) => wanted), pods: found.flatMap(({ pods }) => pods) };
}

async function missing({ client, namespace }: ImportReader, record: ImportRecord | undefined): Promise<string[]> {
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
