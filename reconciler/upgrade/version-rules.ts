import { coerce, compare, type SemVer } from 'semver';

export interface VersionChange {
  /** Versions that members run, undefined for one that does not say; empty before there are any, or nobody was asked. */
  readonly running: readonly (string | undefined)[];
  /** Version that all members behave as; undefined when it is not known. */
  readonly clusterVersion: string | undefined;
  /** Version in the StatefulSet's template; undefined when there is none, or its image tells none. */
  readonly rendered: string | undefined;
  /** Version the spec asks for, by name or by its Kubernetes version. */
  readonly wanted: string;
  /** Arguments of the user. */
  readonly args: Readonly<Record<string, string>> | undefined;
}

/** Which version of etcd to run now. */
export type VersionPlan =
  | { readonly kind: 'Allowed'; readonly version: string; readonly changesMinor: boolean }
  /** The one that runs stays. */
  | { readonly kind: 'Refused'; readonly version: string; readonly message: string };

/**
 * The first patch release of a minor from which the next minor may be run, as upstream's upgrade guides say: before
 * 3.5.26 members that were removed long ago come back in 3.6, and before 3.6.11 members may not get along with 3.7.
 */
const stepsFrom: Readonly<Record<string, string>> = { '3.5': '3.5.26', '3.6': '3.6.11' };

/**
 * Whether etcd may be run in the version that is asked for: one minor up at a time, never down, and never while members
 * still run the minor before. Patch releases of a minor may be exchanged in both directions.
 */
export function planVersion({ running, clusterVersion, rendered, wanted, args }: VersionChange): VersionPlan {
  const members = running.flatMap((version) => parsed(version ?? '') ?? []).sort(compare);
  const oldest = members[0] ?? parsed(rendered ?? '');
  const newest = members.at(-1) ?? oldest;
  const target = parsed(wanted);
  const stays = rendered ?? newest?.version ?? wanted;
  const refuse = (message: string): VersionPlan => ({ kind: 'Refused', version: stays, message });

  if (!target) return refuse(`etcd.version ${wanted} is no version such as 3.6.16`);
  const gone = target.minor >= 7 ? Object.keys(args ?? {}).filter((name) => name.startsWith('experimental-')) : [];
  if (gone.length > 0) {
    return refuse(`etcd ${wanted} does not know ${gone.join(', ')} of etcd.args any more: replace or remove them`);
  }
  if (!oldest || !newest) return { kind: 'Allowed', version: wanted, changesMinor: false };
  const from = `etcd runs ${newest.version}, and ${wanted}`;
  if (target.minor < newest.minor) {
    return refuse(
      `${from} is a lower minor, which cannot read its data: set etcd.version to ${newest.version} or newer`,
    );
  }
  if (target.minor > oldest.minor + 1) {
    const next = `3.${oldest.minor + 1}`;
    return refuse(`etcd runs ${oldest.version}, and ${wanted} skips a minor: set etcd.version to a ${next} first`);
  }
  if (target.minor > oldest.minor) {
    const least = stepsFrom[`3.${oldest.minor}`];
    if (least && compare(oldest, least) < 0) {
      return refuse(
        `etcd runs ${oldest.version}, and ${wanted} needs at least ${least} before it: set etcd.version to that first`,
      );
    }
  }
  const changesMinor = target.minor > oldest.minor;
  const haveAllAnswered = members.length > 0 && members.length === running.length;
  // The members agree on the minor some seconds after the last of them runs it, and while one is away they cannot.
  const haveArrived = parsed(clusterVersion ?? '')?.minor === oldest.minor;
  if (changesMinor && !(haveAllAnswered && haveArrived)) {
    return { kind: 'Allowed', version: stays, changesMinor: false };
  }
  return { kind: 'Allowed', version: wanted, changesMinor };
}

function parsed(version: string): SemVer | undefined {
  return coerce(version) ?? undefined;
}
