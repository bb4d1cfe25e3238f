import { z } from 'zod';
import { labelKey, labelSet, labelValue } from './pod-metadata-spec.ts';
import { withRules } from './validation-rule.ts';

const most = 8;

const weight = z.int32().min(1).max(100).describe('Weight from 1 to 100.');

const values = z.array(labelValue().describe('One value.')).max(16).optional().describe('Values to compare with.');

const NodeRequirement = withRules(
  z.object({
    key: labelKey().describe('Key of the label.'),
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']).describe('Comparison.'),
    values,
  }),
  [
    {
      rule: "self.operator in ['In', 'NotIn'] ? (has(self.values) && size(self.values) > 0) : (self.operator in ['Gt', 'Lt'] ? (has(self.values) && size(self.values) == 1 && self.values[0].matches('^[0-9]+$')) : (!has(self.values) || size(self.values) == 0))",
      message: 'In and NotIn need at least one value, Gt and Lt one integer, Exists and DoesNotExist none',
      fieldPath: '.values',
      holds: ({ operator, values: given = [] }) => {
        if (operator === 'In' || operator === 'NotIn') return given.length > 0;
        if (operator === 'Gt' || operator === 'Lt') return given.length === 1 && /^[0-9]+$/.test(given[0] ?? '');
        return given.length === 0;
      },
    },
  ],
);

const NodeTerm = z.object({
  matchExpressions: z
    .array(NodeRequirement.describe('One requirement.'))
    .min(1)
    .max(most)
    .describe('Requirements that all are met.'),
});

const PodRequirement = withRules(
  z.object({
    key: labelKey().describe('Key of the label.'),
    operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('Comparison.'),
    values,
  }),
  [
    {
      rule: "self.operator in ['In', 'NotIn'] ? (has(self.values) && size(self.values) > 0) : (!has(self.values) || size(self.values) == 0)",
      message: 'In and NotIn need at least one value, Exists and DoesNotExist none',
      fieldPath: '.values',
      holds: ({ operator, values: given = [] }) => (operator === 'In' || operator === 'NotIn') === given.length > 0,
    },
  ],
);

/**
 * Pods of the namespace only: with those of other namespaces a tenant could keep pods of others from the nodes on which
 * its own run.
 */
const PodTerm = z.object({
  topologyKey: labelKey().describe('Label of nodes whose value names a place.'),
  labelSelector: z
    .object({
      matchLabels: labelSet().optional().describe('Labels that the pods have.'),
      matchExpressions: z
        .array(PodRequirement.describe('One requirement.'))
        .max(most)
        .optional()
        .describe('Requirements that all are met.'),
    })
    .describe('Which pods of the same namespace are meant.'),
});

const podRules = (which: string) =>
  z.object({
    requiredDuringSchedulingIgnoredDuringExecution: z
      .array(PodTerm.describe('One rule.'))
      .max(most)
      .optional()
      .describe(`Places ${which} pods of every rule run.`),
    preferredDuringSchedulingIgnoredDuringExecution: z
      .array(z.object({ weight, podAffinityTerm: PodTerm.describe('The rule.') }).describe('One preference.'))
      .max(most)
      .optional()
      .describe(`Places ${which} pods of the rule run, if possible.`),
  });

/** Affinity of the pods of one component, as in Kubernetes. */
export const Affinity = z.object({
  nodeAffinity: z
    .object({
      requiredDuringSchedulingIgnoredDuringExecution: z
        .object({
          nodeSelectorTerms: z
            .array(NodeTerm.describe('One set of requirements.'))
            .min(1)
            .max(most)
            .describe('A node must meet one of them.'),
        })
        .optional()
        .describe('Nodes on which the pods may run.'),
      preferredDuringSchedulingIgnoredDuringExecution: z
        .array(z.object({ weight, preference: NodeTerm.describe('The requirements.') }).describe('One preference.'))
        .max(most)
        .optional()
        .describe('Nodes on which the pods run if possible.'),
    })
    .optional()
    .describe('Affinity to nodes.'),
  podAffinity: podRules('where').optional().describe('Affinity to pods of the namespace.'),
  podAntiAffinity: podRules('where no').optional().describe('Anti-affinity to pods of the namespace.'),
});
export type Affinity = z.output<typeof Affinity>;
