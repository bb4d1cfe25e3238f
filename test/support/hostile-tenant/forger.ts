import { ConfigMap } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { newestRevision, releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { ownerReference } from '../../../constructs/control-plane/chart.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { GrantedAccount } from '../granted-account.ts';
import type { Workbench } from '../workbench.ts';

/** The registry of the image that forged records name. */
export const forgedRegistry = 'evil.example.org';

/**
 * Writes two records in the place of the operator with the rights to create ConfigMaps, and no others: one of the present spec, which has failed,
 * and a newer one of a spec that has served, with an image and a Secret of the forger.
 */
export async function forgeRecords(bench: Workbench, kubeconfig: string, cluster: string): Promise<void> {
  const { client, namespace } = bench;
  const { metadata, spec } = await bench.get(cluster);
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create' as const] }];
  const grants = [{ namespace, rules }];
  const account = await GrantedAccount.create({ client, kubeconfig, namespace, name: 'forger', grants });
  const connection = await account.connect();
  try {
    const forger = new KubeClient(connection);
    const apiServer = {
      image: { registry: forgedRegistry, repository: 'shell', tag: '1' },
      mounts: { all: { path: '/all', secret: { secretName: 'backups' } } },
    };
    const record = (number: number, recorded: object, outcome: Readonly<Record<string, string>>) => ({
      apiVersion: ConfigMap.apiVersion,
      kind: ConfigMap.kind,
      metadata: {
        namespace,
        name: `${cluster}-revision-${number}`,
        labels: objectLabels(cluster, 'revision'),
        ownerReferences: [ownerReference({ name: metadata.name, uid: metadata.uid ?? '' })],
      },
      data: {
        generation: '1',
        'spec.json': JSON.stringify(recorded),
        'release.json': JSON.stringify(releaseOf(37, newestRevision)),
        ...outcome,
      },
    });
    const evil = { ...spec, deployment: { apiServer } };
    await forger.create(record(1000, spec, { failure: 'never ready' }), { fieldManager: 'forger' });
    await forger.create(record(1001, evil, { served: 'true' }), { fieldManager: 'forger' });
  } finally {
    await connection.close();
    await account.end();
  }
}
