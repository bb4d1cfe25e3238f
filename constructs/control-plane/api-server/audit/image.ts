import { type Image, imageReference } from '../../../cluster/versions.ts';

/**
 * The image of the audit fan-out, which `npm run image` packs beside that of the operator. The second part of the tag is the
 * digest of the sources, in `reconciler/programs/audit-fan-out/` and `fan-out-config.ts`: a release of the operator that does not change
 * them restarts no API server. Raise the first part to ship the same program with a newer Node.
 */
export const fanOutImage: Image = {
  registry: 'localhost',
  repository: 'hosted-control-plane/audit',
  tag: '1-561f09350ef7',
};

/** The same in another registry, which HostedControlPlanes name in `imageRegistry`. */
export function auditImageIn(registry: string): string {
  return imageReference({ imageRegistry: registry }, fanOutImage, undefined);
}
