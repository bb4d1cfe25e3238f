import { coerce } from 'semver';
import manifest from '../../package.json' with { type: 'json' };

/** Version of this release, without a leading `v`. */
export const releaseVersion: string = manifest.version;

/**
 * Major and minor of this release, which clusterctl calls a release series. @throws when the version is not a version.
 */
export function releaseSeries(): { readonly major: number; readonly minor: number } {
  const version = coerce(releaseVersion);
  if (!version) throw new Error(`version "${releaseVersion}" of package.json is not a version such as 1.2.3`);
  return { major: version.major, minor: version.minor };
}
