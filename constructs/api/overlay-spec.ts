import { z } from 'zod';
import { Affinity } from './affinity-spec.ts';
import { objectName } from './object-name.ts';
import { labelKey, labelSet, labelValue, PodAnnotations, PodLabels } from './pod-metadata-spec.ts';
import { withRules } from './validation-rule.ts';

const most = 32;
/** Of nodes or zones; a cluster of Kubernetes has at most 5000 nodes. */
const mostPlaces = 10_000;
/** In seconds: longer than any node lives. */
const longestStay = 1_000_000_000;

/** Label of nodes by which every node is a place of its own. */
export const nodeTopology = 'kubernetes.io/hostname';

/** Variables that the operator sets in some container. */
export const reservedVariables: readonly string[] = [
  'HOST_IP',
  'KUBERNETES_SERVICE_HOST',
  'KUBERNETES_SERVICE_PORT',
  'KUBERNETES_SERVICE_PORT_HTTPS',
  'NODE_NAME',
  'POD_IP',
  'POD_NAME',
];

const Environment = withRules(
  z
    .array(
      z
        .object({
          name: z
            .string()
            .max(253)
            .regex(
              /^[-._a-zA-Z][-._a-zA-Z0-9]*$/,
              'must be the name of an environment variable: letters, digits, dashes, dots and underscores, not beginning with a digit',
            )
            .describe('Name of the variable.'),
          value: z.string().max(4096).default('').describe('Value of the variable.'),
        })
        .describe('One environment variable.'),
    )
    .max(most)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  [
    {
      rule: `!self.exists(one, one.name in [${reservedVariables.map((name) => `'${name}'`).join(', ')}])`,
      message: `the operator sets ${reservedVariables.join(', ')} itself: remove them`,
      holds: (given) => given.every(({ name }) => !reservedVariables.includes(name)),
    },
  ],
);

const Toleration = withRules(
  z.object({
    key: labelKey().optional().describe('Key of the taint; every taint when unset, which needs the operator Exists.'),
    operator: z.enum(['Exists', 'Equal']).optional().describe('How the value is compared; Equal when unset.'),
    value: labelValue().optional().describe('Value of the taint, for Equal.'),
    effect: z
      .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
      .optional()
      .describe('Effect of the taint; every effect when unset.'),
    tolerationSeconds: z
      .int()
      .min(0)
      .max(longestStay)
      .optional()
      .describe('For NoExecute: how long a pod stays; forever when unset.'),
  }),
  [
    {
      rule: "has(self.key) || (has(self.operator) && self.operator == 'Exists')",
      message: 'a toleration without key tolerates every taint, and needs operator: Exists',
      fieldPath: '.operator',
      holds: ({ key, operator }) => key !== undefined || operator === 'Exists',
    },
    {
      rule: "!(has(self.operator) && self.operator == 'Exists') || !has(self.value) || self.value == ''",
      message: 'a toleration with operator Exists has no value: remove value, or set operator: Equal',
      fieldPath: '.value',
      holds: ({ operator, value = '' }) => operator !== 'Exists' || value === '',
    },
    {
      rule: "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
      message: 'tolerationSeconds applies to taints that evict: set effect: NoExecute, or remove tolerationSeconds',
      fieldPath: '.tolerationSeconds',
      holds: ({ effect, tolerationSeconds }) => tolerationSeconds === undefined || effect === 'NoExecute',
    },
  ],
);
export type Toleration = z.output<typeof Toleration>;

const policy = z.enum(['Honor', 'Ignore']).optional();

const TopologySpreadConstraint = withRules(
  z.object({
    topologyKey: labelKey().describe('Key of a label of nodes: nodes with the same value are one place.'),
    maxSkew: z.int32().min(1).max(mostPlaces).describe('Largest difference of the number of pods between two places.'),
    whenUnsatisfiable: z
      .enum(['DoNotSchedule', 'ScheduleAnyway'])
      .describe('Whether a pod waits that would violate the constraint.'),
    minDomains: z
      .int32()
      .min(1)
      .max(mostPlaces)
      .optional()
      .describe('Number of places below which a place without pods counts; only with DoNotSchedule.'),
    nodeAffinityPolicy: policy.describe(
      'Whether nodes count that the node selector and the affinity exclude; Honor when unset, so that they do not.',
    ),
    nodeTaintsPolicy: policy.describe(
      'Whether nodes count whose taints the pods do not tolerate; Honor when unset, so that they do not.',
    ),
  }),
  [
    {
      rule: "!has(self.minDomains) || self.whenUnsatisfiable == 'DoNotSchedule'",
      message: 'minDomains needs whenUnsatisfiable: DoNotSchedule: set that, or remove minDomains',
      fieldPath: '.minDomains',
      holds: ({ minDomains, whenUnsatisfiable }) => minDomains === undefined || whenUnsatisfiable === 'DoNotSchedule',
    },
  ],
);

/** What a user may add to the pods of every component. Entries of maps and lists are added to those of the operator. */
const everyPod = {
  priorityClassName: objectName()
    .optional()
    .describe('PriorityClass of the pods, which decides which pods are evicted or preempted first.'),
  labels: PodLabels.optional().describe('Additional labels of the pods.'),
  annotations: PodAnnotations.optional().describe('Additional annotations of the pods.'),
  env: Environment.optional().describe(
    'Additional environment variables of the main container. They have values only; mount what comes from a Secret.',
  ),
  imagePullSecrets: z
    .array(
      z
        .object({ name: objectName().describe('Name of the Secret, in the namespace of the pods.') })
        .describe('One Secret.'),
    )
    .max(16)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
    .describe('Secrets with the credentials of image registries.'),
  nodeSelector: labelSet().optional().describe('Labels of the nodes on which the pods run.'),
};

/** The overlay of pods that run on every node, whatever its taints. */
export const daemonOverlay = everyPod;

/** The overlay of the other pods of a hosted cluster. */
export const addOnOverlay = {
  ...everyPod,
  tolerations: z
    .array(Toleration.describe('One toleration.'))
    .max(most)
    .optional()
    .describe('Taints of nodes that the pods tolerate, in addition to those that the operator lets them tolerate.'),
  topologySpreadConstraints: z
    .array(TopologySpreadConstraint.describe('One constraint, which counts the pods of its component.'))
    .max(8)
    .optional()
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['topologyKey'] })
    .describe(
      'How the pods spread: by default over nodes and zones. A constraint replaces the one with the same topologyKey.',
    ),
};

/** The overlay of the pods of a control plane. */
export const overlay = {
  ...addOnOverlay,
  affinity: Affinity.optional().describe(
    'Affinity of the pods. Each of nodeAffinity, podAffinity and podAntiAffinity replaces a less specific one.',
  ),
};

/** Additions to the pods of every component that runs in the management cluster. */
export const Overlay = z.object(overlay);
export type Overlay = z.output<typeof Overlay>;
