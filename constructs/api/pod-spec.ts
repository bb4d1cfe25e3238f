import { z } from 'zod';
import { Audit } from './audit-spec.ts';
import { argumentsOf, container } from './container-spec.ts';
import { Mounts } from './mount-spec.ts';
import { addOnOverlay, daemonOverlay, overlay } from './overlay-spec.ts';

/** Settings of the pods of a control plane. */
export const pod = { ...container, ...overlay };

/** Settings of pods on every node of the hosted cluster. */
export const daemonPod = { ...container, ...daemonOverlay };

const replicas = (standard: number, most: number) =>
  z.int32().min(1).max(most).default(standard).describe('Number of pods.');

/** Settings of the pods of the controllers, of which a template has no number. */
export const controllerManagerPod = { ...pod, args: argumentsOf('kube-controller-manager') };
export const schedulerPod = { ...pod, args: argumentsOf('kube-scheduler') };

export const ControllerManagerPod = z.object({ ...controllerManagerPod, replicas: replicas(1, 16) });
export const SchedulerPod = z.object({ ...schedulerPod, replicas: replicas(1, 16) });

/** Settings of add-ons with replicas in the hosted cluster. */
export const addOnPod = { ...container, ...addOnOverlay, replicas: replicas(2, 1_000) };

/** Settings of the pods of the API server. */
export const ApiServerPod = z.object({
  ...pod,
  args: argumentsOf('kube-apiserver'),
  mounts: Mounts.optional().describe('ConfigMaps and Secrets to mount into the API server, by a name of your choice.'),
  konnectivity: z.object(container).optional().describe('The konnectivity server, which runs next to the API server.'),
  audit: Audit.optional().describe(
    'Audit records of the API server: what it records, and where it sends the records. Standard output without a webhook.',
  ),
});

export type { Container, Image } from './container-spec.ts';
export type ControllerPod = z.output<typeof SchedulerPod>;
export type ApiServerPod = z.output<typeof ApiServerPod>;
