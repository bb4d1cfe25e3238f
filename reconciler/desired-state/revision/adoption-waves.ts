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
  /** `message` stays the same while others adopt. */
  | { readonly kind: 'later'; readonly message: string };

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

/**
 * Adopts release revisions for control planes whose own are no longer kept: canaries first, a few at a time. Those that wait look neither
 * at a clock nor at each other: a thousand would reconcile and write their status with each one that adopts.
 */
export class AdoptionWaves {
  /** Those that have begun, until their status shows it. */
  readonly #begun = new Set<string>();
  readonly #waiting = new Set<string>();

  /**
   * Whose turn it is. One that is not Ready afterwards keeps its place, and no other one follows one that has gone back: a
   * release that breaks one breaks no other.
   */
  turn({ key, revision, newest, fleet, concurrency }: AdoptionInput): AdoptionTurn {
    this.#waiting.delete(key);
    if (isKept(revision, newest)) return { kind: 'none' };
    const why = this.#reasonToWait(key, { newest, concurrency, members: fleet() });
    if (why === undefined) {
      this.#begun.add(key);
      return { kind: 'now' };
    }
    this.#waiting.add(key);
    const message = `revision ${revision} is no longer kept, and the control plane adopts ${newest} after others: ${why}`;
    return { kind: 'later', message };
  }

  /** Those that wait although it is their turn now: no watch reports that to them. */
  next({ newest, fleet, concurrency }: Pick<AdoptionInput, 'newest' | 'fleet' | 'concurrency'>): readonly string[] {
    const members = this.#waiting.size > 0 ? fleet() : [];
    const mayBegin = (key: string) => this.#reasonToWait(key, { newest, concurrency, members }) === undefined;
    const found = [...this.#waiting].filter(mayBegin).slice(0, concurrency);
    // One that does not reconcile, such as one in quarantine, keeps no other waiting.
    for (const key of found) if (this.#waiting.delete(key)) this.#waiting.add(key);
    return found;
  }

  /** Whether a control plane waits for its turn. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Forgets a control plane that does not reconcile any more, such as a paused one. */
  forget(key: string): void {
    this.#begun.delete(key);
    this.#waiting.delete(key);
  }

  #reasonToWait(
    key: string,
    {
      newest,
      concurrency,
      members,
    }: Pick<AdoptionInput, 'newest' | 'concurrency'> & { readonly members: readonly FleetMember[] },
  ): string | undefined {
    const self = members.find((member) => member.key === key);
    const others = members.filter((member) => member.key !== key);
    for (const member of others) if (member.revision === newest) this.#begun.delete(member.key);
    const adopting = others.filter(
      (member) => this.#begun.has(member.key) || (member.revision === newest && !member.isReady),
    );
    if (adopting.length >= concurrency) return `at most ${concurrency} at a time adopts it until it is Ready`;
    const failed = others.filter((member) => member.hasFailed);
    // One that has failed itself is the first to try the release revision after that.
    if (failed.length > 0 && !self?.hasFailed)
      return `it waits for ${listed(failed)}, which went back after such an adoption`;
    const canary = others.find((member) => member.isCanary && !isKept(member.revision ?? newest, newest));
    return !self?.isCanary && canary ? `it waits for the canary ${canary.key}` : undefined;
  }
}

function listed(members: readonly FleetMember[]): string {
  return members.map(({ key }) => key).join(', ');
}
