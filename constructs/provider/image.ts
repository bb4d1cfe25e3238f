import { releaseVersion } from './release.ts';

/**
 * The operator's image: what `npm run image` builds and the installation runs unless told otherwise. clusterctl refuses a
 * name without host; this host is one that no node can pull a stranger's image from.
 */
export const managerImage = `localhost/hosted-control-plane/manager:v${releaseVersion}`;
