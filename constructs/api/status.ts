import { z } from 'zod';
import { CertificateStatus } from './certificate-status.ts';
import { ComponentStatus } from './component-status.ts';
import { EtcdStatus } from './etcd-status.ts';
import { NetworkStatus } from './network-status.ts';
import { InClusterAccess } from './in-cluster-access-spec.ts';
import { Quantity } from './quantity.ts';

const time = () => z.iso.datetime({ offset: true });
const count = () => z.int32().min(0).optional();

/** A host name that a control plane holds. */
export type HeldHost = NonNullable<z.output<typeof HostedControlPlaneStatus>['hosts']>[number];

/** A record of an accepted spec. */
const Revision = z
  .object({
    number: z.int32().min(1).describe('Number of the record.'),
    digest: z.string().length(64).describe('SHA-256 of what the operator has recorded.'),
    served: z.boolean().optional().describe('Whether the control plane has become ready by it.'),
    failure: z.string().max(1024).optional().describe('Why it has not become ready by it in time.'),
  })
  .describe('One record.');
export type RevisionStatus = z.output<typeof Revision>;

/** A field of the spec that the operator has not applied yet. */
const HeldField = z
  .object({
    field: z.string().min(1).max(128).describe('Path of the field in the spec; `spec` for all of it.'),
    because: z.string().max(1024).describe('What it waits for.'),
    since: time().describe('Time since which it waits.'),
  })
  .describe('One field.');
export type HeldFieldStatus = z.output<typeof HeldField>;

/** One condition, in the shape of metav1.Condition. */
export const Condition = z
  .object({
    type: z.string().min(1).max(316).describe('Type of the condition.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition: True, False or Unknown.'),
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe('Generation of the spec that the condition was computed for.'),
    lastTransitionTime: time().describe('Time of the last change of status.'),
    reason: z.string().min(1).max(1024).describe('Machine-readable reason, as one word.'),
    message: z.string().max(32768).describe('Human-readable message: what is wrong, what was found, what to do.'),
  })
  .describe('One observation of the control plane.');
export type Condition = z.output<typeof Condition>;

/** Fields of the status that `kubectl get -o wide` shows, by the names of their columns. */
export const wideColumns = z.registry<{ readonly name: string }>();

/** @internal */
export const HostedControlPlaneStatus = z.object({
  initialization: z
    .object({
      controlPlaneInitialized: z
        .boolean()
        .optional()
        .describe('True once workers can join. It never becomes false again.'),
    })
    .optional()
    .describe('Initialization of the control plane, for which Cluster API waits once.'),
  ready: z
    .boolean()
    .optional()
    .describe('True once the control plane has been usable. For older tools; use conditions instead.'),
  externalManagedControlPlane: z
    .boolean()
    .optional()
    .describe(
      'Always true, because there are no control plane Machines. Without it, Cluster API would neither drain workers nor delete their Nodes.',
    ),
  summary: z.string().max(128).optional().describe('State in words, such as `Ready, backups fail`.'),
  version: z
    .string()
    .max(256)
    .optional()
    .describe('Oldest version among the API servers that serve: what they emulate if they do.'),
  versions: z
    .array(
      z
        .object({
          version: z.string().min(1).max(256).describe('Version of the API servers.'),
          replicas: z.int32().min(0).describe('Number of API servers of this version.'),
        })
        .describe('The API servers of one version.'),
    )
    .max(100)
    .optional()
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['version'],
      description: 'Versions of the running API servers, oldest first.',
    }),
  selector: z.string().max(4096).optional().describe('Label selector of the API server pods.'),
  replicas: count().describe('Number of API server pods.'),
  readyReplicas: count().describe('Number of API server pods that are ready.'),
  availableReplicas: count().describe('Number of API server pods that are available: ready for the minimum time.'),
  upToDateReplicas: count().describe('Number of API server pods that match the spec.'),
  components: z
    .array(ComponentStatus)
    .max(8)
    .optional()
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      description: 'Components of the control plane, in the order in which they start.',
    }),
  componentTemplate: z
    .string()
    .max(253)
    .optional()
    .describe('Name of the HostedControlPlaneComponentTemplate by which the components are rendered.'),
  releaseRevision: z
    .int32()
    .min(1)
    .optional()
    .describe(
      'Release revision: the templates, flags and default images by which the operator renders the control plane.',
    )
    .register(wideColumns, { name: 'Release' }),
  revisions: z
    .array(Revision)
    .max(2)
    .optional()
    .describe(
      'The ConfigMaps <cluster>-revision-<number> with accepted specs that the operator believes. It ignores all others, and what has changed in these.',
    ),
  held: z
    .array(HeldField)
    .max(8)
    .optional()
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['field'],
      description:
        'Fields of the newest spec that are not applied yet, or not as a whole, in the order in which that is decided.',
    }),
  network: NetworkStatus.optional(),
  inClusterAccess: InClusterAccess.optional().describe('How pods of the hosted cluster reach their API server.'),
  serviceAccountIssuer: z
    .string()
    .max(512)
    .optional()
    .describe('Issuer of the service account tokens of the hosted cluster, at which clients discover their keys.'),
  preflight: z
    .object({
      version: z.string().min(1).max(256).describe('Version of Kubernetes that the spec asks for.'),
      succeeded: time().describe('Time at which they succeeded last.'),
      skipped: z
        .array(z.string().min(1).max(1024).describe('What was found, and what to do about it.'))
        .max(8)
        .optional()
        .describe('Problems that were found and skipped, as the annotation of the HostedControlPlane asks.'),
    })
    .optional()
    .describe('Checks before a change of the minor version of Kubernetes that have succeeded.'),
  emulation: z
    .object({
      binaries: z.string().min(1).max(256).describe('Version of these binaries.'),
      since: time().describe('Time since which all of them run.'),
    })
    .optional()
    .describe('Present while binaries of the next minor emulate status.version.'),
  hibernation: z
    .object({
      since: time().describe('Time since which the API servers stop or have stopped.'),
      until: time().optional().describe('Time since which an API server answers again; missing before.'),
    })
    .optional()
    .describe('Present from the start of a hibernation until all kubelets that reported before it report again.'),
  hosts: z
    .array(
      z
        .object({
          name: z.string().min(1).max(253).describe('Host name, in lower case.'),
          gateway: z
            .string()
            .max(317)
            .optional()
            .describe('Namespace and name of the Gateway behind which it holds the name; unset for an Ingress.'),
          heldSince: time().describe('Time since which the control plane holds it.'),
        })
        .describe('One host name.'),
    )
    .max(8)
    .optional()
    .describe(
      'Host names of a shared Gateway or ingress controller that this control plane holds. No other control plane gets them before it is deleted.',
    ),
  legacyIP: z.string().max(253).optional().describe('First IP address of the LoadBalancer Service.'),
  etcd: EtcdStatus.optional(),
  encryptionAtRest: z
    .object({
      provider: z.enum(['secretbox', 'None']).describe('secretbox as long as any Secret may be encrypted.'),
      rotation: z
        .string()
        .max(128)
        .optional()
        .describe('Value of spec.encryptionAtRest.rotation for which the last rotation was completed.'),
    })
    .optional()
    .describe('Encryption of Secrets in etcd.'),
  certificates: z
    .array(CertificateStatus)
    .max(16)
    .optional()
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['kind'],
      description: 'Certificates in use, by kind.',
    }),
  certificatesNotAfter: time()
    .optional()
    .describe('Time at which the first certificate in use expires.')
    .register(wideColumns, { name: 'Certificates Until' }),
  etcdVolumeSize: Quantity.optional().describe('Size of the volume of each etcd member.'),
  etcdVolumeUsage: Quantity.optional().describe(
    'Size of the largest database of etcd, rounded up to a sixteenth of the volume. The volume also holds the WAL and snapshots.',
  ),
  etcdLastBackupTime: time().optional().describe('Time at which the last backup was stored.'),
  etcdNextBackupTime: time().optional().describe('Time at which the next backup is due.'),
  etcdLastDefragTime: time().optional().describe('Time of the last defragmentation of etcd.'),
  etcdLastAttemptedDefragTime: time()
    .optional()
    .describe('Time of the last attempt to defragment etcd, whether or not it succeeded.'),
  observedGeneration: z
    .int()
    .min(-1)
    .optional()
    .describe('Generation of the spec that this status was computed for; -1 before the operator has seen the object.'),
  conditions: z
    .array(Condition)
    .max(64)
    .optional()
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      description: 'Conditions: Available, Ready and one for each step towards them.',
    }),
});
/** Everything that the operator reports. */
export type HostedControlPlaneStatus = z.output<typeof HostedControlPlaneStatus>;
