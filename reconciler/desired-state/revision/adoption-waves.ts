import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { canaryLabel } from '../../../constructs/api/group.ts';
import { isKept } from '../../../constructs/cluster/release-revisions.ts';
import { objectKey } from '../../kube/object.ts';

/** Whether a control plane adopts the newest release revision because its own is no longer kept. */
export type AdoptionTurn =
  /** Its own is kept. */
  | { readonly kind: 'none' }
  | { readonly kind: 'now' }
  | { readonly kind: 'later'; readonly message: string; readonly again: Date };

/** A control plane of the fleet. */
export interface FleetMember {
  /** `namespace/name` of the HostedControlPlane. */
  readonly key: string;
  readonly isCanary: boolean;
  /** Release revision by which it is rendered; undefined until the operator has reported it. */
  readonly revision: number | undefined;
  readonly isReady: boolean;
  /** Whether it has adopted a release revision by which it did not become ready, and has gone back. */
  readonly hasFailed: boolean;
}

interface AdoptionInput {
  readonly key: string;
  readonly revision: number;
  readonly newest: number;
  /** Every control plane, this one included. */
  readonly fleet: () => readonly FleetMember[];
  /** How many adopt it at a time. */
  readonly concurrency: number;
  readonly now: Date;
}

/** The reason of SpecAccepted after a release revision by which the control plane did not become ready. */
export const adoptionFailed = 'AdoptionFailed';

/** What the operator has reported about a HostedControlPlane. */
export function fleetMember({ metadata, status }: HostedControlPlaneObject): FleetMember {
  const condition = (wanted: ConditionType) => status?.conditions?.find(({ type }) => type === wanted);
  return {
    key: objectKey(metadata),
    isCanary: metadata.labels?.[canaryLabel] !== undefined,
    revision: status?.releaseRevision,
    isReady: condition('Ready')?.status === 'True',
    hasFailed: condition('SpecAccepted')?.reason === adoptionFailed,
  };
}

/** A wave is reported by no watch of a control plane that waits for it. */
const againMs = 60_000;

/** Adopts release revisions for control planes whose own are no longer kept: canaries first, a few at a time. */
export class AdoptionWaves {
  /** Those that have begun, until their status shows it. */
  readonly #begun = new Set<string>();

  /**
   * Whose turn it is. One that is not Ready afterwards keeps its place, and no other one follows one that has gone back: a
   * release that breaks one breaks no other.
   */
  turn({ key, revision, newest, fleet, concurrency, now }: AdoptionInput): AdoptionTurn {
    if (isKept(revision, newest)) return { kind: 'none' };
    const members = fleet();
    const self = members.find((member) => member.key === key);
    const others = members.filter((member) => member.key !== key);
    for (const member of others) if (member.revision === newest) this.#begun.delete(member.key);
    const later = (why: string): AdoptionTurn => ({
      kind: 'later',
      message: `revision ${revision} is no longer kept, and the control plane adopts ${newest} after others: it waits for ${why}`,
      again: new Date(now.getTime() + againMs),
    });
    const adopting = others.filter(
      (member) => this.#begun.has(member.key) || (member.revision === newest && !member.isReady),
    );
    if (adopting.length >= concurrency) return later(`${listed(adopting)} to be Ready`);
    const failed = others.filter((member) => member.hasFailed);
    // One that has failed itself is the first to try the release revision after that.
    if (failed.length > 0 && !self?.hasFailed)
      return later(`${listed(failed)}, which went back after such an adoption`);
    const canary = others.find((member) => member.isCanary && !isKept(member.revision ?? newest, newest));
    if (!self?.isCanary && canary) return later(`the canary ${canary.key}`);
    this.#begun.add(key);
    return { kind: 'now' };
  }
}

function listed(members: readonly FleetMember[]): string {
  return members.map(({ key }) => key).join(', ');
}
