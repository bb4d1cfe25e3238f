import { minor } from 'semver';
import {
  importEtcdVersionAnnotation,
  importSnapshotAnnotation,
  importStoppedAnnotation,
  keptVolumeAnnotation,
  pausedAnnotation,
  reclaimPolicyAnnotation,
  rotateAnnotation,
} from '../../constructs/api/group.ts';
import { Cluster, HostedControlPlane, PersistentVolume, Pod, Secret } from '../../constructs/api/resources.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { ownerReference } from '../../constructs/control-plane/chart.ts';
import { cliFieldManager } from '../cli/command.ts';
import { pairSecret } from '../pki/secret.ts';
import type { ImportContext } from './import-context.ts';
import { newSecrets } from './identity.ts';
import { findLeftovers, podsOf, volumesOf, type Workload } from './observe-import.ts';
import type { EtcdPlace, NamedObject } from './other-control-plane.ts';
import type { ImportDecision } from './plan-import.ts';
import { readEtcdCredentials, readEtcdVersion, readKeys } from './read-other.ts';
import { type ImportRecord, recordName, recordSecret } from './record.ts';
import { namesOf, successorSecretName } from '../../constructs/cluster/names.ts';
import { etcdVersion } from '../../constructs/cluster/versions.ts';
import type { ClusterObject } from '../../imports/cluster-api.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { checkBareSnapshot } from '../backup/bare-snapshot.ts';
import type { ClusterBackups } from '../backup/cluster-backups.ts';
import type { DatabaseFacts } from '../backup/etcd-database.ts';
import { MemberClient } from '../etcd/client.ts';
import type { EtcdCredentials } from '../etcd/etcd3-client.ts';
import { messageOf } from '../kube/error-message.ts';

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

/**
 * Gives the control plane to the operator: the Cluster names the HostedControlPlane, which has the snapshot, the endpoint
 * and the request for the rotation in its spec. With the last write it is not paused any more.
 */
async function handOver(context: ImportContext): Promise<void> {
  const { client, namespace, cluster, controlPlane, record } = context;
  if (!record?.snapshot) throw new Error('the final snapshot is not recorded');
  const { metadata } = controlPlane.object;
  const clusterObject = await client.find<ClusterObject>(Cluster, { namespace, name: cluster });
  const reference = clusterObject?.spec?.controlPlaneRef;
  if (reference?.kind !== HostedControlPlane.kind || reference.name !== metadata.name) {
    const apiGroup = HostedControlPlane.apiVersion.split('/')[0];
    const controlPlaneRef = { apiGroup, kind: HostedControlPlane.kind, name: metadata.name };
    await client.mergePatch(Cluster, { namespace, name: cluster }, { spec: { controlPlaneRef } }, cliFieldManager);
  }
  // Conditions of the other provider would stay for ever, and "Ready" of another control plane until the next reconcile.
  await client.mergePatch(
    HostedControlPlane,
    metadata,
    { status: { conditions: [] } },
    { ...cliFieldManager, subresource: 'status' },
  );
  const patch = handOverPatch(context, record, clusterObject?.spec?.controlPlaneEndpoint);
  await client.mergePatch(HostedControlPlane, metadata, patch, cliFieldManager);
}

/** The patch that lets the operator restore the snapshot and begin. */
export function handOverPatch(
  { cluster, controlPlane: { object } }: Pick<ImportContext, 'cluster' | 'controlPlane'>,
  { snapshot, etcdVersion: written, secrets }: Pick<ImportRecord, 'snapshot' | 'etcdVersion' | 'secrets'>,
  endpoint: { readonly host?: string | undefined; readonly port?: number | undefined } | undefined,
): object {
  const { spec } = object;
  const successor = successorSecretName(namesOf(cluster).secrets.clusterCA);
  const isRotated = secrets.some(({ name }) => name === successor);
  const isNewer = written !== undefined && minor(written) > minor(etcdVersion({ spec }));
  const hasEndpoint = endpoint?.host !== undefined && endpoint.port !== undefined && !spec.controlPlaneEndpoint?.host;
  return {
    metadata: {
      annotations: {
        [pausedAnnotation]: null,
        ...(isRotated ? { [rotateAnnotation('cluster-ca')]: `import of ${snapshot}` } : {}),
      },
    },
    spec: {
      ...(hasEndpoint ? { controlPlaneEndpoint: { host: endpoint.host, port: endpoint.port } } : {}),
      etcd: {
        restore: { backup: snapshot, latest: null, before: null, from: null },
        ...(isNewer ? { version: written } : {}),
      },
    },
  };
}

/**
 * Stores a snapshot of the other provider's etcd, which no API server changes any more, under this name.
 * @throws a sentence for the user if no member provides one, and the errors of the store
 */
async function storeSnapshot(
  context: ImportContext,
  place: EtcdPlace,
  backups: ClusterBackups,
  name: string,
): Promise<void> {
  const { client, namespace } = context;
  const credentials = await readEtcdCredentials(context, place);
  const set = await client.find<Workload>(place.set.resource, { namespace, name: place.set.name });
  const problems: string[] = [];
  for (const { metadata } of set ? await podsOf(context, set) : []) {
    try {
      return await storeFrom(metadata.name, context, credentials, (snapshot) =>
        backups.writeBareSnapshot(name, snapshot),
      );
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  throw new Error(`no snapshot was stored: ${problems.join('; ') || `StatefulSet ${place.set.name} has no pods`}`);
}

async function storeFrom(
  pod: string,
  { namespace, forward }: ImportContext,
  credentials: EtcdCredentials,
  store: (snapshot: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const forwarded = await forward({ namespace, pod, port: ports.etcdClient });
  // Both providers have this name in the certificate of every member.
  const member = new MemberClient(
    { name: pod, address: `127.0.0.1:${forwarded.port}`, serverName: 'localhost' },
    credentials,
  );
  try {
    const { status } = await member.status();
    if (status.leaderId === undefined) throw new Error(`etcd member ${pod} has no leader`);
    await store(member.snapshot());
  } finally {
    member.close();
    forwarded.close();
  }
}

/**
 * Reads a stored snapshot to its end: while the other provider's etcd still runs, another one can be taken.
 * @throws a sentence for the user if it cannot be restored
 */
async function checkSnapshot(backups: ClusterBackups, name: string): Promise<DatabaseFacts> {
  return checkBareSnapshot(name, await backups.bareSnapshot(name));
}
