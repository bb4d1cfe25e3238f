import { coerce } from 'semver';
import manifest from '../../package.json' with { type: 'json' };

/** Version of this release, without a leading `v`. */
export const releaseVersion: string = manifest.version;

/** Major and minor of releases, which clusterctl calls a release series, and the contract of their definitions. */
export interface ReleaseSeries {
  readonly major: number;
  readonly minor: number;
  readonly contract: string;
}

/** Every series up to this release, oldest first. clusterctl upgrades only from a series that the newest release names. */
export const releasedSeries: readonly ReleaseSeries[] = [{ major: 0, minor: 1, contract: 'v1beta2' }];

/** The series up to that of a version, whose own is the last one. @throws when it is not, or there is no such version */
export function seriesUntil(version: string): readonly ReleaseSeries[] {
  const parsed = coerce(version);
  if (!parsed) throw new Error(`version "${version}" of package.json is not a version such as 1.2.3`);
  const last = releasedSeries.at(-1);
  if (last?.major !== parsed.major || last.minor !== parsed.minor) {
    throw new Error(
      `version ${version} of package.json begins series ${parsed.major}.${parsed.minor}, and the last known one is ${last?.major}.${last?.minor}: add it to releasedSeries in constructs/provider/release.ts`,
    );
  }
  return releasedSeries;
}
