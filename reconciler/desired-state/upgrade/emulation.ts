import { durationSeconds } from '../../../constructs/api/duration.ts';
import type { HostedControlPlane } from '../../../constructs/api/hosted-control-plane.ts';
import { canEmulate, defaultHold } from '../../../constructs/cluster/emulation.ts';

/** An upgrade of Kubernetes' minor version, as far as it has come. */
export interface Upgrade extends Pick<HostedControlPlane, 'spec' | 'status'> {
  /** The version for which the API servers are rendered, of an earlier minor than the spec asks for. */
  readonly rendered: string;
  /** The version of the binaries with which they emulate that one; undefined if they do not. */
  readonly binaries: string | undefined;
  /** Whether nothing stands in the way of the next step. */
  readonly mayProceed: boolean;
  readonly now: Date;
}

/** What to render next: a version, and the version of the binaries that emulate it, if any do. */
export interface UpgradeStep {
  readonly version: string;
  readonly binaries: string | undefined;
}

/**
 * The next step of an upgrade: the binaries of the new minor, which emulate the minor before, and after the hold the new minor
 * itself. A step that may not be taken yet leaves what is rendered.
 */
export function nextStep(upgrade: Upgrade): UpgradeStep {
  const { spec, rendered, binaries, mayProceed } = upgrade;
  if (!mayProceed || isHeld(upgrade)) return { version: rendered, binaries };
  return hasHold(upgrade) && binaries !== spec.version
    ? { version: rendered, binaries: spec.version }
    : { version: spec.version, binaries: undefined };
}

/** Whether the binaries that the spec asks for emulate the minor before, and the next step has to wait for its time. */
export function isHeld(upgrade: Omit<Upgrade, 'mayProceed'>): boolean {
  const { spec, binaries, now } = upgrade;
  if (binaries === undefined || binaries !== spec.version || !hasHold(upgrade)) return false;
  const end = endOfHold(upgrade, binaries);
  return end === undefined || end > now;
}

/** When the hold of an upgrade ends; undefined until all binaries run. */
export function endOfHold({ spec, status }: Pick<Upgrade, 'spec' | 'status'>, binaries: string): Date | undefined {
  const { emulation } = status ?? {};
  if (emulation?.binaries !== binaries) return undefined;
  return new Date(Date.parse(emulation.since) + holdSeconds(spec) * 1000);
}

function hasHold({ spec, rendered }: Pick<Upgrade, 'spec' | 'rendered'>): boolean {
  return holdSeconds(spec) > 0 && canEmulate(spec.version, rendered, spec);
}

function holdSeconds({ upgrade }: Upgrade['spec']): number {
  return durationSeconds(upgrade?.hold ?? defaultHold);
}
