import { z } from 'zod';
import { withRules } from './validation-rule.ts';

const Gate = z
  .object({
    conditionType: z
      .string()
      .min(1)
      .max(316)
      .regex(
        /^([-.a-z0-9]+\/)?[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$/,
        'must be the type of a condition, such as EtcdBackupReady or example.org/NetworkReady',
      )
      .describe('Type of a condition in status.conditions.'),
  })
  .describe('One gate.');

/** What a control plane waits for before it is Ready, as the readiness gates of a pod. */
export const ReadinessGates = withRules(
  z
    .array(Gate)
    .max(16)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['conditionType'] })
    .describe(
      'Conditions that must be True, too, before the condition Ready is: conditions of the operator that Ready does not include, such as EtcdBackupReady, and conditions that other controllers write into status.conditions.',
    ),
  [
    {
      rule: "self.all(gate, gate.conditionType != 'Ready')",
      message: 'Ready cannot wait for itself: name another condition',
      holds: (gates) => gates.every(({ conditionType }) => conditionType !== 'Ready'),
    },
  ],
);
