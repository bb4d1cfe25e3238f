import { z } from 'zod';

const metadata = z.object({
  labels: z.record(z.string(), z.string().describe('Value.')).optional().describe('Labels.'),
  annotations: z.record(z.string(), z.string().describe('Value.')).optional().describe('Annotations.'),
});

/** Metadata that a template hands on. */
export const TemplateMetadata = metadata;

const timeout = (what: string) => z.int32().min(0).optional().describe(`Ignored: ${what}, in seconds.`);

/**
 * Fields the topology controller of Cluster API may apply to any control plane; server-side apply refuses fields a schema
 * does not declare. A hosted control plane has no Machines, so nothing reads them.
 */
export const MachineTemplate = z.object({
  metadata: metadata.optional().describe('Ignored.'),
  spec: z
    .looseObject({
      infrastructureRef: z
        .looseObject({
          apiGroup: z.string().optional().describe('Ignored.'),
          kind: z.string().optional().describe('Ignored.'),
          name: z.string().optional().describe('Ignored.'),
        })
        .optional()
        .describe('Ignored.'),
      readinessGates: z
        .array(
          z
            .looseObject({
              conditionType: z.string().describe('Ignored.'),
              polarity: z.string().optional().describe('Ignored.'),
            })
            .describe('Ignored.'),
        )
        .optional()
        .describe('Ignored.'),
      taints: z
        .array(
          z
            .looseObject({
              key: z.string().describe('Ignored.'),
              value: z.string().optional().describe('Ignored.'),
              effect: z.string().describe('Ignored.'),
              propagation: z.string().optional().describe('Ignored.'),
            })
            .describe('Ignored.'),
        )
        .optional()
        .describe('Ignored.'),
      deletion: z
        .looseObject({
          nodeDrainTimeoutSeconds: timeout('how long a drain may take'),
          nodeVolumeDetachTimeoutSeconds: timeout('how long detaching volumes may take'),
          nodeDeletionTimeoutSeconds: timeout('how long deleting the Node may take'),
        })
        .optional()
        .describe('Ignored.'),
    })
    .optional()
    .describe('Ignored.'),
});

/** When everything has to be restarted. */
export const Rollout = z.object({
  after: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Once this time (RFC 3339) has passed, all pods of the control plane are restarted once.'),
});
