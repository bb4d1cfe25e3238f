import type { EventObject } from '../../../imports/kubernetes.ts';
import type { KubeObject } from '../../kube/object.ts';

/**
 * The events of a namespace about these objects, and about pods that a workload among them has had, without the events of other control
 * planes.
 */
export function ownEvents(events: readonly EventObject[], objects: readonly KubeObject[]): readonly EventObject[] {
  const named = new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  const starts = objects.filter(({ kind }) => workloads.includes(kind)).map(({ metadata }) => `${metadata.name}-`);
  return events.filter(({ regarding: { kind = '', name = '' } = {} }) => {
    const isMade = children.includes(kind) && starts.some((start) => name.startsWith(start));
    return named.has(`${kind}/${name}`) || isMade;
  });
}

/** Kinds whose objects make others, and the kinds of those. */
const workloads: readonly string[] = ['Deployment', 'StatefulSet', 'MachineDeployment'];
const children: readonly string[] = ['Pod', 'ReplicaSet', 'PersistentVolumeClaim', 'MachineSet', 'Machine'];
