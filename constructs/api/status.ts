import { z } from 'zod';
import { CertificateStatus } from './certificate-status.ts';
import { EtcdStatus } from './etcd-status.ts';
import { InClusterAccess } from './in-cluster-access-spec.ts';
import { Quantity } from './quantity.ts';

const time = () => z.iso.datetime({ offset: true });
const count = () => z.int32().min(0).optional();

/** One condition, in the shape of metav1.Condition. */
export const Condition = z
  .object({
    type: z.string().min(1).max(316).describe('What the condition is about.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
    observedGeneration: z.int().min(0).optional().describe('Generation of the spec the condition was computed for.'),
    lastTransitionTime: time().describe('When the status changed last.'),
    reason: z.string().min(1).max(1024).describe('Why, as one word for programs.'),
    message: z.string().max(32768).describe('Why, as a sentence for people.'),
  })
  .describe('One observation of the control plane.');
export type Condition = z.output<typeof Condition>;

/** Everything the provider reports. */
export const HostedControlPlaneStatus = z.object({
  initialization: z
    .object({
      controlPlaneInitialized: z
        .boolean()
        .optional()
        .describe('True from the moment workers can join; never goes back to false.'),
    })
    .optional()
    .describe('What Cluster API waits for once.'),
  ready: z.boolean().optional().describe('True once the control plane was usable; for older tools, use conditions.'),
  externalManagedControlPlane: z
    .boolean()
    .optional()
    .describe(
      'Always true. There are no control-plane Machines, and without this Cluster API would neither drain workers nor delete their Nodes.',
    ),
  version: z.string().max(256).optional().describe('Oldest version of an API server that still serves.'),
  versions: z
    .array(
      z
        .object({
          version: z.string().min(1).max(256).describe('Version of the API servers.'),
          replicas: z.int32().min(0).describe('How many of them run this version.'),
        })
        .describe('API servers of one version.'),
    )
    .max(100)
    .optional()
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['version'],
      description: 'Versions of the running API servers, oldest first.',
    }),
  selector: z.string().max(4096).optional().describe('Label selector of the API server pods.'),
  replicas: count().describe('API server pods that exist.'),
  readyReplicas: count().describe('API server pods that are ready.'),
  availableReplicas: count().describe('API server pods that have been ready long enough to count.'),
  upToDateReplicas: count().describe('API server pods that match the spec.'),
  inClusterAccess: InClusterAccess.optional().describe('How pods of the hosted cluster reach their API server.'),
  legacyIP: z.string().max(253).optional().describe('First IP address of the LoadBalancer Service.'),
  etcd: EtcdStatus.optional(),
  encryptionAtRest: z
    .object({
      provider: z.enum(['secretbox', 'None']).describe('secretbox as long as any Secret may be stored under a key.'),
      rotation: z.string().max(128).optional().describe('spec.encryptionAtRest.rotation that was done last.'),
    })
    .optional()
    .describe('How Secrets are stored in etcd.'),
  certificates: z
    .array(CertificateStatus)
    .max(16)
    .optional()
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['kind'],
      description: 'Certificates in use, by kind.',
    }),
  certificatesNotAfter: time().optional().describe('When the first of all certificates in use ends.'),
  etcdVolumeSize: Quantity.optional().describe('Size of the volume of each etcd member.'),
  etcdVolumeUsage: Quantity.optional().describe('Bytes in use on the fullest volume.'),
  etcdLastBackupTime: time().optional().describe('When the last snapshot was stored.'),
  etcdNextBackupTime: time().optional().describe('When the next snapshot is due.'),
  etcdLastDefragTime: time().optional().describe('When etcd was last defragmented.'),
  etcdLastAttemptedDefragTime: time().optional().describe('When defragmentation was last tried.'),
  observedGeneration: z.int().min(0).optional().describe('Generation of the spec this status was computed for.'),
  conditions: z
    .array(Condition)
    .max(64)
    .optional()
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      description: 'Available, Ready and one condition per step on the way there.',
    }),
});
export type HostedControlPlaneStatus = z.output<typeof HostedControlPlaneStatus>;
