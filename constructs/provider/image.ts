import { releaseVersion } from './release.ts';

/**
 * The operator's image, which `npm run image` builds and the installation runs by default. clusterctl rejects a name
 * without host. From this host no node can pull a foreign image.
 */
export const managerImage = `localhost/hosted-control-plane/manager:v${releaseVersion}`;
