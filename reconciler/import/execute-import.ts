import { minor } from 'semver';
import {
  importEtcdVersionAnnotation,
  importSnapshotAnnotation,
  importStoppedAnnotation,
  keptVolumeAnnotation,
  pausedAnnotation,
  reclaimPolicyAnnotation,
} from '../../constructs/api/group.ts';
import { HostedControlPlane, PersistentVolume, Pod, Secret } from '../../constructs/api/resources.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { ownerReference } from '../../constructs/control-plane/chart.ts';
import { cliFieldManager } from '../cli/command.ts';
import { pairSecret } from '../pki/secret.ts';
import type { ImportContext } from './import-context.ts';
import { checkSnapshot, storeSnapshot } from './final-snapshot.ts';
import { handOver } from './hand-over.ts';
import { newSecrets } from './identity.ts';
import { findLeftovers, podsOf, volumesOf, type Workload } from './observe-import.ts';
import type { NamedObject } from './other-control-plane.ts';
import type { ImportDecision } from './plan-import.ts';
import { readEtcdVersion, readKeys } from './read-other.ts';
import { recordName, recordSecret } from './record.ts';

/** Pods of API servers end within this time: an open watch would keep them for half a minute. */
const graceSeconds = 5;

/** Executes one step. Each can be repeated: the process may end at any time. */
export async function executeStep(context: ImportContext, step: ImportDecision): Promise<void> {
  switch (step.kind) {
    case 'pause':
      return pause(context);
    case 'record':
      return record(context);
    case 'keepVolumes':
      return keepVolumes(context);
    case 'stopServers':
      await annotateRecord(context, { [importStoppedAnnotation]: new Date(context.now()).toISOString() });
      return stop(context, context.other.servers, { graceSeconds });
    case 'storeSnapshot':
      return snapshot(context);
    case 'stopEtcd':
      return stop(context, context.other.etcd ? [context.other.etcd.set] : []);
    case 'removeLeftovers':
      return removeLeftovers(context);
    case 'writeSecrets':
      return writeSecrets(context, step.secrets);
    case 'handOver':
      return handOver(context);
    case 'awaitServers':
    case 'awaitEtcd':
    case 'follow':
      return;
  }
}

async function pause({ client, controlPlane: { object } }: ImportContext): Promise<void> {
  const patch = { metadata: { annotations: { [pausedAnnotation]: 'hcp-import' } } };
  await client.mergePatch(HostedControlPlane, object.metadata, patch, cliFieldManager);
}

async function record(context: ImportContext): Promise<void> {
  const { client, namespace, cluster, other, controlPlane, issuer, now } = context;
  const keys = await readKeys(context, other, issuer);
  const secrets = await newSecrets(keys, { cluster, spec: controlPlane.object.spec, now: new Date(now()) });
  const { provider, name } = other;
  await client.create(recordSecret({ namespace, cluster }, { provider, name, secrets }), cliFieldManager);
}

async function annotateRecord(
  { client, namespace, cluster }: ImportContext,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  const name = { namespace, name: recordName(cluster) };
  await client.mergePatch(Secret, name, { metadata: { annotations } }, cliFieldManager);
}

/** In one write for each volume, so that the policy before is known whenever it was changed. */
async function keepVolumes(context: ImportContext): Promise<void> {
  const { client, namespace, cluster } = context;
  for (const { metadata, spec } of await volumesOf(context)) {
    const before = metadata.annotations?.[reclaimPolicyAnnotation] ?? spec?.persistentVolumeReclaimPolicy ?? 'Delete';
    const annotations = { [keptVolumeAnnotation]: `${namespace}/${cluster}`, [reclaimPolicyAnnotation]: before };
    const patch = { metadata: { annotations }, spec: { persistentVolumeReclaimPolicy: 'Retain' } };
    await client.mergePatch(PersistentVolume, { name: metadata.name }, patch, cliFieldManager);
  }
}

async function stop(
  { client, namespace }: ImportContext,
  workloads: readonly NamedObject[],
  { graceSeconds: gracePeriodSeconds }: { readonly graceSeconds?: number } = {},
): Promise<void> {
  for (const { resource, name } of workloads) {
    const found = await client.find<Workload>(resource, { namespace, name });
    if (!found) continue;
    await client.mergePatch(resource, { namespace, name }, { spec: { replicas: 0 } }, cliFieldManager);
    if (gracePeriodSeconds === undefined) continue;
    for (const { metadata } of await podsOf({ client, namespace }, found))
      await client.delete(Pod, metadata, { gracePeriodSeconds, uid: metadata.uid });
  }
}

/** Stores the final data, or takes the snapshot that the user names, and records it only when it can be restored. */
async function snapshot(context: ImportContext): Promise<void> {
  const { other, now, withBackups } = context;
  const name = context.snapshot ?? `${new Date(now()).toISOString()}.etcd`;
  const { etcd } = other;
  const facts = await withBackups(async (backups) => {
    if (context.snapshot === undefined && etcd) await storeSnapshot(context, etcd, backups, name);
    return checkSnapshot(backups, name);
  });
  const image = etcd && (await readEtcdVersion(context, etcd));
  const version =
    image !== undefined && facts.etcdVersion !== undefined && minor(image) === minor(facts.etcdVersion)
      ? image
      : facts.etcdVersion;
  await annotateRecord(context, {
    [importSnapshotAnnotation]: name,
    ...definedOnly({ [importEtcdVersionAnnotation]: version }),
  });
}

async function removeLeftovers(context: ImportContext): Promise<void> {
  for (const { resource, object } of await findLeftovers(context, context.record)) {
    const { uid, deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined) await context.client.delete(resource, object.metadata, { uid });
  }
}

async function writeSecrets(
  { client, namespace, cluster, controlPlane: { object }, record: known }: ImportContext,
  names: readonly string[],
): Promise<void> {
  const { name: hostedControlPlane, uid = '' } = object.metadata;
  const owner = ownerReference({ name: hostedControlPlane, uid });
  for (const { name, pair, annotations } of known?.secrets ?? []) {
    if (!names.includes(name)) continue;
    const { metadata, ...secret } = pairSecret({ name, namespace, cluster, owner }, 'clusterApi', pair);
    await client.create({ ...secret, metadata: { ...metadata, annotations } }, cliFieldManager);
  }
}
