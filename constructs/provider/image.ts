import { releaseVersion } from './release.ts';

/** The operator's image of this release. @param registry host of a registry, and a path there */
export function managerImageIn(registry: string): string {
  return `${registry}/hosted-control-plane/manager:v${releaseVersion}`;
}

/**
 * The image that `npm run image` builds and the installation runs by default. clusterctl rejects a name
 * without host. From this host no node can pull a foreign image.
 */
export const managerImage = managerImageIn('localhost');
