import { releaseVersion } from './release.ts';

/** The operator's image: what `npm run image` builds and the installation runs unless told otherwise. */
export const managerImage = `hosted-control-plane/manager:v${releaseVersion}`;
