import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { backupAnnotation } from '../../constructs/api/group.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { followUntilReady } from '../tools/demo/follow.ts';
import { HcpUser } from '../support/hcp.ts';
import type { HostedControlPlaneObject } from '../support/workbench.ts';
import { clientOf } from '../tools/testbed/access.ts';
import type { ClusterName } from '../tools/testbed/hosted-api.ts';
import { type Instance, kubeconfigPath } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { objectStoreCredentials } from '../tools/testbed/object-store.ts';
import { repository } from '../tools/testbed/operator-bundle.ts';
import { type Report, step, until } from '../tools/testbed/progress.ts';

/** The one in cluster.yaml; its HostedControlPlane has the same name. */
export const cluster: ClusterName = { namespace: 'disaster', name: 'prod' };

/** The names in cluster.yaml. */
export const secretNames = { store: 'backup-store', keys: 'backup-keys' } as const;

const backupLimitMs = 180_000;

/** What an administrator must have kept outside of the management cluster, besides the address of the bucket. */
export interface Safe {
  /** 32 bytes in base64: decrypts the backups. */
  readonly encryptionKey: string;
}

export function fillSafe(): Safe {
  return { encryptionKey: randomBytes(32).toString('base64') };
}

/** Creates the hosted cluster of cluster.yaml; ends when it is ready. */
export async function provision(instance: Instance, safe: Safe, report: Report): Promise<void> {
  const start = performance.now();
  await applySecrets(instance, safe, report);
  await kubectl(instance, ['apply', '--server-side', '--filename', join(repository, 'test/disaster/cluster.yaml')]);
  await follow(instance, start, report);
}

/** Creates it again from its newest backup, with its data and its keys; ends when it is ready. */
export async function rebuild(instance: Instance, safe: Safe, report: Report): Promise<void> {
  const start = performance.now();
  await applySecrets(instance, safe, report);
  const { namespace, name } = cluster;
  const secrets = ['--store', secretNames.store, '--keys', secretNames.keys];
  const command = ['rebuild', `${namespace}/${name}`, ...secrets, '--namespace', namespace];
  report(`           hcp ${command.join(' ')} | kubectl apply --server-side --filename -`);
  await kubectl(instance, ['apply', '--server-side', '--filename', '-'], await hcp(instance, command));
  await follow(instance, start, report);
}

/** Runs `hcp` with the rights that the command's help asks for, and returns its standard output. @throws with what it says when it fails */
export async function hcp(instance: Instance, args: readonly string[]): Promise<string> {
  const client = await clientOf(instance);
  const { namespace } = cluster;
  const user = new HcpUser({ client: () => client, kubeconfig: () => kubeconfigPath(instance), namespace });
  try {
    const { code, out, err } = await user.run(...args).ended;
    if (code !== 0) throw new Error(`hcp ${args.join(' ')}: exit code ${code}\n${err}`);
    return out;
  } finally {
    await user.end();
    await client.connection.close();
  }
}

/** Takes a backup now; returns its name. Throws if it lacks what a rebuild elsewhere needs. */
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
    let found = 'no condition EtcdBackupReady';
    return await until({ what: 'the backup', timeoutMs: backupLimitMs, intervalMs: 100 }, async () => {
      const { status } = await client.get<HostedControlPlaneObject>(HostedControlPlane, cluster);
      const condition = status?.conditions?.find(({ type }) => type === 'EtcdBackupReady');
      if (condition) found = `EtcdBackupReady is ${condition.status}, ${condition.reason}: ${condition.message}`;
      const { lastRequest, lastBackup } = status?.etcd?.backup ?? {};
      if (lastRequest === request && lastBackup !== undefined) return lastBackup;
      // the reason of a possible time-out
      throw new Error(found);
    });
  } finally {
    await client.connection.close();
  }
}

/** The prerequisites of a cluster: a namespace, and in it the kept Secrets. */
export async function applySecrets(instance: Instance, safe: Safe, report: Report): Promise<void> {
  const objects = { apiVersion: 'v1', kind: 'List', items: await secrets(instance, safe) };
  await step(report, `Namespace ${cluster.namespace}, Secrets of the bucket and of the key`, () =>
    kubectl(instance, ['apply', '--server-side', '--filename', '-'], JSON.stringify(objects)),
  );
}

/** Reports the progress of the control plane until it is ready. @param start of the times that are reported */
export async function follow(instance: Instance, start: number, report: Report): Promise<void> {
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
    secret(secretNames.store, await objectStoreCredentials(instance)),
    secret(secretNames.keys, { first: encryptionKey }),
  ];
}
