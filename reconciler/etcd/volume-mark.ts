import { group } from '../../constructs/api/group.ts';
import type { KubeObject } from '../kube/object.ts';
import type { MemberClaim } from './members.ts';

/** Annotation of a volume claim with the member whose data it holds, in hexadecimal digits as etcdctl prints IDs. */
const annotation = `${group}/etcd-member`;

/**
 * The purpose that owns the annotation. Setting nothing for it removes the mark, as a restore must do before members
 * start.
 */
export const markPurpose = 'etcd-member';

/** Prefix of the ID of a founding member that has not answered yet. */
const reserved = 'for-';

/** The annotation of a claim that holds the data of this member, or is reserved for it. */
export function volumeMark(id: string, { isReserved }: { readonly isReserved: boolean }): Record<string, string> {
  return { [annotation]: `${isReserved ? reserved : ''}${hexadecimal(id)}` };
}

/** The mark of a claim. Text that cannot be an ID is ignored. */
export function markOf({ metadata }: KubeObject): Pick<MemberClaim, 'memberId' | 'isReserved'> {
  const [, awaits, digits] = /^(for-)?([0-9a-f]{1,16})$/.exec(metadata.annotations?.[annotation] ?? '') ?? [];
  if (digits === undefined) return { memberId: undefined };
  return { memberId: BigInt(`0x${digits}`).toString(), ...(awaits ? { isReserved: true } : {}) };
}

/** An ID as etcdctl prints it. */
export function hexadecimal(id: string): string {
  return BigInt(id).toString(16);
}
