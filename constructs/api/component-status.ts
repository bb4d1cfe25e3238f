import { z } from 'zod';

const count = () => z.int32().min(0).optional();

/** One component of a control plane, with the counts of its Deployment or StatefulSet. */
export const ComponentStatus = z
  .object({
    name: z
      .enum(['etcd', 'api-server', 'controller-manager', 'scheduler'])
      .describe('Name of the component; its pods have it as the value of the label app.kubernetes.io/component.'),
    ready: z
      .boolean()
      .describe('Whether all its pods run its present template and are available. Without pods it is not.'),
    replicas: count().describe('Number of its pods.'),
    readyReplicas: count().describe('Number of its pods that are ready.'),
    version: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Oldest version that its pods run: for controllers the tag of their image, once all of them have it.'),
    addresses: z
      .array(
        z
          .object({
            hostname: z.string().min(1).max(253).describe('Host name.'),
            port: z.int32().min(1).max(65535).describe('Port.'),
          })
          .describe('One address.'),
      )
      .max(8)
      .optional()
      .describe(
        'Addresses in the management cluster: the client address of each etcd member, and the address of the Service of the API servers. Network policies decide who may connect.',
      ),
    message: z.string().min(1).max(1024).optional().describe('What it waits for; unset when it is ready.'),
  })
  .describe('One component of the control plane.');
export type ComponentStatus = z.output<typeof ComponentStatus>;
