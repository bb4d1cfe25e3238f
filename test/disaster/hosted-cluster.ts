import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { backupAnnotation } from '../../constructs/api/group.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { followUntilReady } from '../demo/follow.ts';
import type { HostedControlPlaneObject } from '../support/workbench.ts';
import { clientOf } from '../testbed/access.ts';
import type { ClusterName } from '../testbed/hosted-api.ts';
import type { Instance } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { objectStoreCredentials } from '../testbed/object-store.ts';
import { repository } from '../testbed/operator-bundle.ts';
import { type Report, step, until } from '../testbed/progress.ts';

/** The one of cluster.yaml; its HostedControlPlane has the same name. */
export const cluster: ClusterName = { namespace: 'disaster', name: 'prod' };

const backupLimitMs = 180_000;

/** What a person has to have kept outside of the management cluster, besides the address of the bucket. */
export interface Safe {
  /** 32 bytes in base64: opens the backups. */
  readonly encryptionKey: string;
}

export function fillSafe(): Safe {
  return { encryptionKey: randomBytes(32).toString('base64') };
}

/** Makes the hosted cluster of cluster.yaml; ends when it is ready. */
export async function provision(instance: Instance, safe: Safe, report: Report): Promise<void> {
  await applyWith(instance, safe, {}, report);
}

/** Makes it again, from the newest backup of the one that was lost and with its keys. */
export async function rebuild(instance: Instance, safe: Safe, report: Report): Promise<void> {
  const from = { namespace: cluster.namespace, cluster: cluster.name, identity: true };
  await applyWith(instance, safe, { latest: true, from }, report);
}

/** Takes a backup now; gives its name. Throws when it lacks what a rebuild elsewhere needs. */
export async function takeBackup(instance: Instance, report: Report): Promise<string> {
  const request = new Date().toISOString();
  const name = await step(report, 'a backup, asked for by an annotation', async () => {
    const resource = ['hostedcontrolplane', cluster.name, '--namespace', cluster.namespace];
    await kubectl(instance, ['annotate', ...resource, '--overwrite', `${backupAnnotation}=${request}`]);
    return untilBackup(instance, request);
  });
  report(`           ${name}`);
  return name;
}

async function untilBackup(instance: Instance, request: string): Promise<string> {
  const client = await clientOf(instance);
  try {
    let said = 'no condition EtcdBackupReady';
    return await until({ what: 'the backup', timeoutMs: backupLimitMs, intervalMs: 100 }, async () => {
      const { status } = await client.get<HostedControlPlaneObject>(HostedControlPlane, cluster);
      const condition = status?.conditions?.find(({ type }) => type === 'EtcdBackupReady');
      if (condition) said = `EtcdBackupReady is ${condition.status}, ${condition.reason}: ${condition.message}`;
      const { lastRequest, lastBackup } = status?.etcd?.backup ?? {};
      if (lastRequest === request && lastBackup !== undefined) return lastBackup;
      // the reason of the time-out, should it come to that
      throw new Error(said);
    });
  } finally {
    await client.connection.close();
  }
}

async function applyWith(instance: Instance, safe: Safe, restore: object, report: Report): Promise<void> {
  const start = performance.now();
  const { namespace } = cluster;
  const objects = [...(await secrets(instance, safe)), ...(await clusterObjects(restore))];
  await kubectl(
    instance,
    ['apply', '--server-side', '--filename', '-'],
    objects.map((object) => stringify(object)).join('---\n'),
  );
  report(`applied Namespace ${namespace}, Secrets of the bucket and of the key, Cluster, HostedControlPlane`);
  const client = await clientOf(instance);
  try {
    await followUntilReady(client, cluster, start, report);
  } finally {
    await client.connection.close();
  }
}

async function secrets(instance: Instance, { encryptionKey }: Safe): Promise<object[]> {
  const { namespace } = cluster;
  const secret = (name: string, stringData: object): object => {
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData };
  };
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
    secret('backup-store', await objectStoreCredentials(instance)),
    secret('backup-keys', { first: encryptionKey }),
  ];
}

/** Cluster and HostedControlPlane; a restore is one field more of the latter. */
async function clusterObjects(restore: object): Promise<object[]> {
  const documents = parseAllDocuments(await readFile(join(repository, 'test/disaster/cluster.yaml'), 'utf8'));
  if (Object.keys(restore).length > 0) {
    const controlPlane = documents.find((document) => document.get('kind') === HostedControlPlane.kind);
    controlPlane?.setIn(['spec', 'etcd', 'restore'], restore);
  }
  return documents.map((document) => document.toJS() as object);
}
