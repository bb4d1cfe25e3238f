import { z } from 'zod';
import { Quantity } from './quantity.ts';

const quantities = z.record(z.string(), Quantity.describe('Amount, such as 500m or 1Gi.'));

const ResourceRequirements = z.object({
  limits: quantities.optional().describe('The most the container may use, per resource.'),
  requests: quantities.optional().describe('What the scheduler sets aside for the container, per resource.'),
  claims: z
    .array(
      z
        .object({
          name: z.string().describe('Name of an entry of the pod that claims a device.'),
          request: z.string().optional().describe('One request of that claim; all of them when unset.'),
        })
        .describe('One claim.'),
    )
    .optional()
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      description: 'Claims of dynamic resource allocation the container uses.',
    }),
});

/** Parts of an image reference; what is not set keeps the provider's default. */
export const Image = z.object({
  registry: z.string().optional().describe('Registry host, such as registry.example.org.'),
  repository: z.string().optional().describe('Repository below the registry, such as mirror/kube-apiserver.'),
  tag: z.string().optional().describe('Tag, used as it is written.'),
});

/** What can be set for any container. */
export const container = {
  image: Image.optional().describe('Replaces parts of the image; what is not set keeps its default.'),
  imagePullPolicy: z
    .enum(['Always', 'IfNotPresent', 'Never'])
    .optional()
    .describe('When the image is pulled. IfNotPresent when unset, because tags are versions.'),
  args: z
    .record(z.string(), z.string().describe('Value of the flag.'))
    .optional()
    .describe(
      'Command-line flags, by name without the leading dashes. Flags the provider sets itself win over the ones given here.',
    ),
  resources: ResourceRequirements.optional().describe('CPU, memory and devices of the container.'),
};

/** What can be set for a container whose arguments are the provider's alone. */
const { args: _, ...fixedContainer } = container;
export const FixedContainer = z.object(fixedContainer);

export type Image = z.output<typeof Image>;
export type Container = z.output<z.ZodObject<typeof container>>;
