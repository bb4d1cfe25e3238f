import { fieldManager } from '../../constructs/api/group.ts';
import { Pod } from '../../constructs/api/resources.ts';
import { controlPlaneKinds, type Workbench } from '../support/workbench.ts';

/**
 * Every object of the control planes in a namespace with when the operator has changed it, and the uid of every pod. This stays
 * as it is while the operator writes nothing; a busy machine changes only the status of pods, and of what counts them.
 */
export async function writtenObjects({ client, namespace }: Workbench): Promise<string[]> {
  const lists = await Promise.all(controlPlaneKinds.map((kind) => client.list(kind, { namespace })));
  return lists
    .flatMap(({ items }) => items)
    .filter(({ kind, metadata }) => kind === Pod.kind || metadata.managedFields?.some(isOurs))
    .map(({ kind, metadata }) => {
      const times = metadata.managedFields?.filter(isOurs).map(({ time }) => time) ?? [];
      return [kind, metadata.name, metadata.uid, ...times].join(' ');
    });
}

function isOurs({ manager }: { readonly manager?: string | undefined }): boolean {
  return manager === fieldManager;
}
