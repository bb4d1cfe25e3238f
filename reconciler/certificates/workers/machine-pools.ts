import type { MachinePoolObject } from '../../../imports/cluster-api.ts';
import { caNotBeforeAnnotation, ownerKindAnnotation, ownerNameAnnotation } from '../../../constructs/api/group.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isOlderThan } from './machines.ts';

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
