import { coerce, compare, type SemVer } from 'semver';

export interface VersionChange {
  /**
   * Versions that members run, undefined for a member that does not report it. Empty before members exist or have been
   * asked.
   */
  readonly running: readonly (string | undefined)[];
  /** etcd's cluster version, as which all members behave; undefined if it is not known. */
  readonly clusterVersion: string | undefined;
  /** Version in the StatefulSet's template; undefined before etcd has lived, and if its image does not show it. */
  readonly rendered: string | undefined;
  /** Version that the spec requests, explicitly or by its Kubernetes version. */
  readonly wanted: string;
  /** The field that requests it, or that can request another one. */
  readonly field: 'etcd.version' | 'etcd.image.tag';
  /** The user's arguments for etcd. */
  readonly args: Readonly<Record<string, string>> | undefined;
}

/** Which version of etcd to run now. */
type VersionPlan =
  | { readonly kind: 'allowed'; readonly version: string; readonly changesMinor: boolean }
  /** The running version stays. */
  | { readonly kind: 'refused'; readonly version: string; readonly message: string };

/**
 * The first patch release of a minor from which etcd's upgrade guides support the next minor. Before 3.5.26, members
 * that were removed long ago reappear in 3.6. Before 3.6.11, members may not work together with 3.7.
 */
const stepsFrom: Readonly<Record<string, string>> = { '3.5': '3.5.26', '3.6': '3.6.11' };

/**
 * Which version of etcd may run on the way to the requested one: one minor up at a time, never down, and never while members
 * still run the previous minor. Patch releases of a minor may change in both directions. Where upstream requires a newer
 * patch release before the next minor, all members run that one first.
 */
export function planVersion({ running, clusterVersion, rendered, wanted, field, args }: VersionChange): VersionPlan {
  const members = running.flatMap((version) => parsed(version ?? '') ?? []).sort(compare);
  const oldest = members[0] ?? parsed(rendered ?? '');
  const newest = members.at(-1) ?? oldest;
  const target = parsed(wanted);
  const stays = rendered ?? newest?.version ?? wanted;
  const refuse = (message: string): VersionPlan => ({ kind: 'refused', version: stays, message });

  if (!target) return refuse(`${field} ${wanted} is not a version such as 3.6.16: correct it`);
  const gone = target.minor >= 7 ? Object.keys(args ?? {}).filter((name) => name.startsWith('experimental-')) : [];
  if (gone.length > 0) {
    return refuse(`etcd ${wanted} no longer supports ${gone.join(', ')} of etcd.args: replace or remove them`);
  }
  if (!oldest || !newest) return { kind: 'allowed', version: wanted, changesMinor: false };
  const from = `etcd runs ${newest.version}, and ${wanted}`;
  if (target.minor < newest.minor) {
    return refuse(
      `${from} is a lower minor version, which cannot read its data: set ${field} to ${newest.version} or newer`,
    );
  }
  if (target.minor > oldest.minor + 1) {
    const next = `3.${oldest.minor + 1}`;
    return refuse(
      `etcd runs ${oldest.version}, and ${wanted} skips a minor version: set ${field} to a ${next} release first`,
    );
  }
  const haveAllAnswered = members.length > 0 && members.length === running.length;
  const stay: VersionPlan = { kind: 'allowed', version: stays, changesMinor: false };
  const least = parsed(stepsFrom[`3.${oldest.minor}`] ?? '');
  if (target.minor > oldest.minor && least && compare(oldest, least) < 0) {
    // A tag of the user names one image, and members of both minors got there in another way.
    if (field === 'etcd.image.tag' || newest.minor > oldest.minor) {
      return refuse(
        `etcd runs ${oldest.version}, and an upgrade to ${wanted} requires at least ${least.version}: set ${field} to ${least.version} first`,
      );
    }
    if (!haveAllAnswered) return stay;
    const step = compare(newest, least) > 0 ? newest : least;
    return { kind: 'allowed', version: step.version, changesMinor: false };
  }
  const changesMinor = target.minor > oldest.minor;
  // The cluster version rises some seconds after the last member runs the new minor. It cannot rise while a member is
  // away.
  const haveArrived = parsed(clusterVersion ?? '')?.minor === oldest.minor;
  if (changesMinor && !(haveAllAnswered && haveArrived)) {
    return stay;
  }
  return { kind: 'allowed', version: wanted, changesMinor };
}

function parsed(version: string): SemVer | undefined {
  return coerce(version) ?? undefined;
}
