import { z } from 'zod';
import { isMore, Quantity } from './quantity.ts';
import { argumentRules, type CheckedProgram } from './refused-arguments.ts';
import { type ValidationRule, withRules } from './validation-rule.ts';

const resourceName = '^(cpu|memory|ephemeral-storage|hugepages-.+|.+/.+)$';

const quantities = withRules(
  z.record(z.string(), Quantity.describe('Amount, such as 500m or 1Gi.')).meta({ maxProperties: 16 }),
  [
    {
      rule: `self.all(name, name.matches('${resourceName}') && !string(self[name]).startsWith('-'))`,
      message:
        'an amount cannot be negative, and is of cpu, memory, ephemeral-storage, hugepages-<size>, or a resource with a domain: correct it',
      holds: (amounts) =>
        Object.entries(amounts).every(
          ([name, amount]) => new RegExp(resourceName).test(name) && !amount.startsWith('-'),
        ),
    },
  ],
);

const ResourceRequirements = withRules(
  z.object({
    limits: quantities.optional().describe('Maximum amount of each resource that the container may use.'),
    requests: quantities.optional().describe('Amount of each resource that the scheduler reserves for the container.'),
    claims: z
      .array(z.looseObject({}).describe('One claim.'))
      .max(16)
      .optional()
      .describe('Not supported: only an empty list is accepted.'),
  }),
  [
    {
      rule: '!has(self.claims) || size(self.claims) == 0',
      message: 'pods of a control plane declare no claims: remove them, or request a device in limits',
      fieldPath: '.claims',
      holds: ({ claims = [] }) => claims.length === 0,
    },
    {
      rule: '!has(self.requests) || !has(self.limits) || self.requests.all(name, !(name in self.limits) || [self.requests[name], self.limits[name]].exists(one, !isQuantity(string(one))) || !quantity(string(self.requests[name])).isGreaterThan(quantity(string(self.limits[name]))))',
      message: 'a request cannot be larger than its limit: lower the request, or raise the limit',
      fieldPath: '.requests',
      holds: ({ requests = {}, limits = {} }) =>
        Object.entries(requests).every(([name, amount]) => !isMore(amount, limits[name] ?? amount)),
    },
  ],
);

const imagePart = () =>
  z
    .string()
    .max(512)
    .regex(/^[^ \t\r\n]+$/, 'must not be empty, and contains no spaces');

/** Parts of an image reference. Unset parts keep the default of the operator. */
export const Image = z.object({
  registry: imagePart().optional().describe('Registry host, such as registry.example.org.'),
  repository: imagePart().optional().describe('Repository below the registry, such as mirror/kube-apiserver.'),
  tag: imagePart().optional().describe('Tag, used without changes.'),
});

const flagName = '^[a-z0-9][a-z0-9.-]*$';

/**
 * Command-line flags. The names are checked, because every component exits at a flag that it does not know, and because
 * Kubernetes reads `_` as `-`: under that name a flag would take precedence over the operator's.
 */
const argumentsWith = (rules: readonly ValidationRule<Readonly<Record<string, string>>>[]) =>
  withRules(z.record(z.string(), z.string().max(4096).describe('Value of the flag.')).meta({ maxProperties: 128 }), [
    {
      rule: `self.all(name, name.matches('${flagName}'))`,
      message:
        'the name of a flag consists of lower-case letters, digits, dashes and dots, and does not start with a dash: write --event-ttl=1h as event-ttl: 1h',
      messageExpression: `'"' + self.filter(name, !name.matches('${flagName}'))[0] + '" is not the name of a flag: write it in lower-case letters, digits, dashes and dots, without the leading dashes'`,
      holds: (flags) => Object.keys(flags).every((name) => new RegExp(flagName).test(name)),
    },
    ...rules,
  ])
    .optional()
    .describe('Command-line flags, by name without the leading dashes. Flags that the operator sets take precedence.');

/** The arguments of a program, without those that {@link argumentRules} refuse. */
export const argumentsOf = (program: CheckedProgram) => argumentsWith(argumentRules(program));

/** Settings of every container. */
export const container = {
  image: Image.optional().describe('Replaces parts of the image reference. Unset parts keep their default.'),
  imagePullPolicy: z
    .enum(['Always', 'IfNotPresent', 'Never'])
    .optional()
    .describe('When the kubelet pulls the image; IfNotPresent when unset, because tags are versions.'),
  args: argumentsWith([]),
  resources: ResourceRequirements.optional().describe('CPU, memory and devices of the container.'),
};

/** Settings of a container whose arguments only the operator sets. */
const { args: _, ...fixed } = container;
export const fixedContainer = fixed;
export const FixedContainer = z.object(fixedContainer);

export type Image = z.output<typeof Image>;
export type Container = z.output<z.ZodObject<typeof container>>;
