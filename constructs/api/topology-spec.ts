import { z } from 'zod';
import { annotationSet, labelSet } from './pod-metadata-spec.ts';
import { Duration } from './duration.ts';

const metadata = z.object({
  labels: labelSet().optional().describe('Labels.'),
  annotations: annotationSet().optional().describe('Annotations.'),
});

/** Metadata that a template sets on the objects created from it. */
export const TemplateMetadata = metadata;

/** What Cluster API itself checks has at least these limits. */
const mostIgnored = 256;
const text = () => z.string().max(1024);

const timeout = (what: string) =>
  z.int32().min(0).max(2_000_000_000).optional().describe(`Ignored: ${what}, in seconds.`);

/**
 * Fields that the topology controller of Cluster API may apply to any control plane. Server-side apply rejects fields
 * that a schema does not declare. The operator reads none of them, because a hosted control plane has no Machines.
 */
export const MachineTemplate = z.object({
  metadata: metadata.optional().describe('Ignored.'),
  spec: z
    .looseObject({
      infrastructureRef: z
        .looseObject({
          apiGroup: text().optional().describe('Ignored.'),
          kind: text().optional().describe('Ignored.'),
          name: text().optional().describe('Ignored.'),
        })
        .optional()
        .describe('Ignored.'),
      readinessGates: z
        .array(
          z
            .looseObject({
              conditionType: text().describe('Ignored.'),
              polarity: text().optional().describe('Ignored.'),
            })
            .describe('Ignored.'),
        )
        .max(mostIgnored)
        .optional()
        .describe('Ignored.'),
      taints: z
        .array(
          z
            .looseObject({
              key: text().describe('Ignored.'),
              value: text().optional().describe('Ignored.'),
              effect: text().describe('Ignored.'),
              propagation: text().optional().describe('Ignored.'),
            })
            .describe('Ignored.'),
        )
        .max(mostIgnored)
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

/** How an upgrade goes on. */
export const Upgrade = z.object({
  hold: Duration.optional().describe(
    'How long API servers and controllers of a new minor emulate the minor before, once all of them run, such as 1h. Until then spec.version can go back. 5m by default; 0s for no emulation.',
  ),
});

/** Restarts on request. */
export const Rollout = z.object({
  after: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Time (RFC 3339) after which all pods of the control plane are restarted once.'),
  progressDeadlineSeconds: z
    .int()
    .min(30)
    .max(86_400)
    .optional()
    .describe(
      'Seconds without progress after which a changed spec has failed: then the operator goes back to the last spec with which the control plane has served. 600 by default.',
    ),
});
