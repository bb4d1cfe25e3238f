import { z } from 'zod';
import { Audit } from './audit-spec.ts';
import { container } from './container-spec.ts';
import { objectName } from './object-name.ts';
import { Mounts } from './mount-spec.ts';

/** Settings of every pod. */
export const pod = {
  ...container,
  priorityClassName: objectName()
    .optional()
    .describe('PriorityClass of the pods, which decides which pods are evicted or preempted first.'),
};

/** Settings of every pod with replicas. */
export const scalablePod = (defaultReplicas: number) => ({
  ...pod,
  replicas: z.int32().min(1).default(defaultReplicas).describe('Number of pods.'),
});

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
export type Pod = z.output<z.ZodObject<typeof pod>>;
export type ScalablePod = z.output<z.ZodObject<ReturnType<typeof scalablePod>>>;
export type ApiServerPod = z.output<typeof ApiServerPod>;
