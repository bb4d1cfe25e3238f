import { rolledOutForAnnotation } from '../../../constructs/api/group.ts';
import type { KubeObject } from '../../kube/object.ts';

/** On a Machine: the MachineDeployment that it is of. */
const deploymentLabel = 'cluster.x-k8s.io/deployment-name';

/** On a Node, by Cluster API: the Machine that it is. */
const machineAnnotation = 'cluster.x-k8s.io/machine';

/** A MachineDeployment as far as it says when its Machines are to be replaced. */
export interface MachineDeploymentObject extends KubeObject {
  readonly spec: {
    readonly rollout?: {
      /** Machines are replaced whose MachineSet is older than this, once the time has come. */
      readonly after?: string | undefined;
    };
  };
}

/** Name of the MachineDeployment of a Machine; nothing for one that nobody replaces. */
export function deploymentOf(machine: KubeObject): string | undefined {
  return machine.metadata.labels?.[deploymentLabel];
}

/** Name of the Machine of a Node; nothing for one that was joined by hand. */
export function machineOf(node: KubeObject): string | undefined {
  return node.metadata.annotations?.[machineAnnotation];
}

/** Whether an object was made before a time. Kubernetes knows whole seconds only. */
export function isOlderThan({ metadata }: KubeObject, time: Date): boolean {
  return Date.parse(metadata.creationTimestamp ?? '') < wholeSeconds(time).getTime();
}

/** The time without what Kubernetes does not keep of it. */
export function wholeSeconds(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}

/** How a time is written in an object. */
export function timestamp(time: Date): string {
  return wholeSeconds(time).toISOString().replace('.000Z', 'Z');
}

/**
 * Whether Machines of a MachineDeployment still have to be told to be replaced: never twice for one authority, and never
 * where a user asks for a later time, which replaces them too.
 */
export function mustRollOut(deployment: MachineDeploymentObject, signer: string, since: Date): boolean {
  if (deployment.metadata.deletionTimestamp) return false;
  if (deployment.metadata.annotations?.[rolledOutForAnnotation] === signer) return false;
  const { after } = deployment.spec.rollout ?? {};
  return after === undefined || Date.parse(after) < wholeSeconds(since).getTime();
}
