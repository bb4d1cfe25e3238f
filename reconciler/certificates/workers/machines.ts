import type { MachineDeploymentObject, MachinePoolObject } from '../../../imports/cluster-api.ts';
import {
  caNotBeforeAnnotation,
  machineAnnotation,
  ownerKindAnnotation,
  ownerNameAnnotation,
  rolledOutForAnnotation,
} from '../../../constructs/api/group.ts';
import type { KubeObject } from '../../kube/object.ts';

/** Label of a Machine with its MachineDeployment. */
const deploymentLabel = 'cluster.x-k8s.io/deployment-name';

/** Name of the MachineDeployment of a Machine; undefined for a Machine that is not replaced automatically. */
export function deploymentOf(machine: KubeObject): string | undefined {
  return machine.metadata.labels?.[deploymentLabel];
}

/** Name of the Machine of a Node; undefined for a Node that was joined manually. */
export function machineOf(node: KubeObject): string | undefined {
  return node.metadata.annotations?.[machineAnnotation];
}

/** Whether an object was created before a time. Kubernetes stores only whole seconds. */
export function isOlderThan({ metadata }: KubeObject, time: Date): boolean {
  return Date.parse(metadata.creationTimestamp ?? '') < wholeSeconds(time).getTime();
}

/** The time in the precision that Kubernetes stores. */
function wholeSeconds(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}

/** The form of a time in an object. */
export function timestamp(time: Date): string {
  return wholeSeconds(time).toISOString().replace('.000Z', 'Z');
}

/**
 * Whether the replacement of the Machines of a MachineDeployment still has to be triggered: never twice for one CA, and
 * never if a user has set a later time, which replaces them too.
 */
export function mustRollOut(deployment: MachineDeploymentObject, signer: string, since: Date): boolean {
  if (deployment.metadata.deletionTimestamp) return false;
  if (deployment.metadata.annotations?.[rolledOutForAnnotation] === signer) return false;
  const { after } = deployment.spec?.rollout ?? {};
  return after === undefined || Date.parse(after) < wholeSeconds(since).getTime();
}

/** A MachinePool with the Secret by which its machines join; undefined while there is none. */
export interface MachinePoolState {
  readonly pool: MachinePoolObject;
  readonly bootstrapData: KubeObject | undefined;
}

/** Name of the Secret by which machines of a MachinePool join. */
export function bootstrapDataOf({ spec }: MachinePoolObject): string | undefined {
  return spec?.template?.spec?.bootstrap?.dataSecretName;
}

/** Name of the MachinePool of a Node; undefined for any other Node. */
export function poolOf({ metadata }: KubeObject): string | undefined {
  const { [ownerKindAnnotation]: kind, [ownerNameAnnotation]: name } = metadata.annotations ?? {};
  return kind === 'MachinePool' ? name : undefined;
}

/** Whether the template of a MachinePool does not name the signing CA yet. */
export function mustAnnotate({ metadata, spec }: MachinePoolObject, caNotBefore: string): boolean {
  return !metadata.deletionTimestamp && spec?.template?.metadata?.annotations?.[caNotBeforeAnnotation] !== caNotBefore;
}

/**
 * Whether machines of a MachinePool join by data from before the CA signed. The kubeadm bootstrap provider writes the
 * CAs that a joining machine accepts once, and keeps them when it renews the token in the same Secret.
 */
export function joinsByOldData({ pool, bootstrapData }: MachinePoolState, since: Date): boolean {
  return !pool.metadata.deletionTimestamp && bootstrapData !== undefined && isOlderThan(bootstrapData, since);
}
