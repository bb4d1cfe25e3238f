import { z } from 'zod';
import { managerImage } from '../image.ts';
import { managerEnvironment, managerPriorityClass, managerResources, managerTolerations } from '../operator.ts';

const map = () => z.record(z.string(), z.string());
const anything = (what: string) => z.looseObject({}).describe(what);

/** The values of the provider's chart. Unknown keys are errors. */
export const ProviderValues = z.strictObject({
  image: z
    .string()
    .min(1)
    .default(managerImage)
    .describe('Image of the operator: the one that `npm run image` builds, in a registry that nodes can pull from.'),
  imagePullSecrets: z
    .array(z.strictObject({ name: z.string().min(1).describe('Name of the Secret.') }))
    .default([])
    .describe('Secrets for that registry, in the namespace of the release.'),
  replicas: z.int32().min(1).default(2).describe('Number of pods. One of them is active, and the others wait.'),
  watchNamespace: z
    .string()
    .max(63)
    .default('')
    .describe(
      'The only namespace of control planes, which must exist. The operator then has a Role there, and reads elsewhere what control planes share. All namespaces when empty.',
    ),
  args: z.array(z.string()).default([]).describe('Further arguments of the operator, such as --watch-filter=a.'),
  env: map()
    .default({ ...managerEnvironment })
    .describe('Environment variables of the operator.'),
  resources: anything('Resources of its container.').default({ ...managerResources }),
  nodeSelector: map().default({}).describe('Labels of the nodes on which it runs.'),
  tolerations: z
    .array(z.looseObject({}))
    .default(managerTolerations.map((one) => ({ ...one })))
    .describe('Taints of nodes that it tolerates.'),
  affinity: anything('Its affinity. Its pods prefer different nodes anyway.').default({}),
  priorityClassName: z.string().min(1).default(managerPriorityClass).describe('Its PriorityClass.'),
  networkPolicy: z
    .boolean()
    .default(false)
    .describe('Whether a NetworkPolicy admits connections to it only at its ports of health and metrics.'),
  monitoring: z
    .boolean()
    .default(false)
    .describe('Whether a PodMonitor and alerts are installed, which need the kinds of the Prometheus Operator.'),
});

/** What a user sets: everything may be left out. */
export type GivenProviderValues = z.input<typeof ProviderValues>;

/** The same as JSON schema, against which Helm checks what a user sets. */
export function providerValuesSchema(): object {
  const { $schema: _, ...schema } = z.toJSONSchema(ProviderValues, { target: 'draft-7', io: 'input' });
  // Helm adds it to the values of a chart that is a dependency.
  const global = { type: 'object', description: 'Added by Helm, and not used.' };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    properties: { ...(schema.properties as object), global },
  };
}
