import { z } from 'zod';
import { Audit } from './audit-spec.ts';
import { container } from './container-spec.ts';
import { Mounts } from './mount-spec.ts';
import { addOnOverlay, daemonOverlay, overlay } from './overlay-spec.ts';

/** Settings of the pods of a control plane. */
export const pod = { ...container, ...overlay };

/** Settings of pods on every node of the hosted cluster. */
export const daemonPod = { ...container, ...daemonOverlay };

const replicas = (standard: number) => z.int32().min(1).default(standard).describe('Number of pods.');

/** Settings of the controllers of a control plane. */
export const controllerPod = { ...pod, replicas: replicas(1) };

/** Settings of add-ons with replicas in the hosted cluster. */
export const addOnPod = { ...container, ...addOnOverlay, replicas: replicas(2) };

/** Settings of the pods of the API server. */
export const ApiServerPod = z.object({
  ...pod,
  mounts: Mounts.optional().describe('ConfigMaps and Secrets to mount into the API server, by a name of your choice.'),
  konnectivity: z.object(container).optional().describe('The konnectivity server, which runs next to the API server.'),
  audit: Audit.optional().describe(
    'Audit records of the API server: what it records, and where it sends the records. Standard output without a webhook.',
  ),
});

export type { Container, Image } from './container-spec.ts';
export type ControllerPod = z.output<z.ZodObject<typeof controllerPod>>;
export type ApiServerPod = z.output<typeof ApiServerPod>;
