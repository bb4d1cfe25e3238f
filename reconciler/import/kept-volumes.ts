import { keptVolumeAnnotation, reclaimPolicyAnnotation } from '../../constructs/api/group.ts';
import { PersistentVolume, Secret } from '../../constructs/api/resources.ts';
import { fieldManager } from '../cli/field-manager.ts';
import type { KubeClient } from '../kube/client.ts';
import type { VolumeObject } from './observe.ts';
import { recordName } from './record.ts';

interface VolumesContext {
  readonly client: Pick<KubeClient, 'list' | 'mergePatch' | 'delete'>;
  readonly namespace: string;
}

/** The volumes that an import has kept for a Cluster. */
async function keptVolumes({ client, namespace }: VolumesContext, cluster: string): Promise<VolumeObject[]> {
  const { items } = await client.list<VolumeObject>(PersistentVolume);
  return items.filter(({ metadata }) => metadata.annotations?.[keptVolumeAnnotation] === `${namespace}/${cluster}`);
}

/**
 * Gives the kept volumes their reclaim policies back, with which Kubernetes deletes most of them, and deletes the record
 * of the import.
 * @param isConfirmed whether to do it; otherwise nothing is changed
 * @returns what was done, or would be, as lines for the user
 */
export async function releaseVolumes(
  context: VolumesContext,
  cluster: string,
  isConfirmed: boolean,
): Promise<string[]> {
  const { client, namespace } = context;
  const volumes = await keptVolumes(context, cluster);
  const lines: string[] = [];
  for (const { metadata } of volumes) {
    const policy = metadata.annotations?.[reclaimPolicyAnnotation] ?? 'Retain';
    lines.push(
      policy === 'Delete'
        ? `PersistentVolume ${metadata.name}: deleted with its data`
        : `PersistentVolume ${metadata.name}: its reclaim policy is ${policy}, so delete it and its data yourself`,
    );
    if (!isConfirmed) continue;
    const annotations = { [keptVolumeAnnotation]: null, [reclaimPolicyAnnotation]: null };
    const patch = { metadata: { annotations }, spec: { persistentVolumeReclaimPolicy: policy } };
    await client.mergePatch(PersistentVolume, { name: metadata.name }, patch, { fieldManager });
  }
  lines.push(`Secret ${recordName(cluster)} with the keys of the other provider: deleted`);
  // Last: it shows that there is something to continue.
  if (isConfirmed) await client.delete(Secret, { namespace, name: recordName(cluster) });
  return isConfirmed ? lines : [...lines, 'Nothing was changed. Add --yes to carry it out: there is no way back.'];
}
