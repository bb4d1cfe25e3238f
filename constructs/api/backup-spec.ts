import { z } from 'zod';
import { Duration } from './duration.ts';
import { schedulePattern } from './schedule.ts';

const secretKey = (defaultKey: string, holds: string) =>
  z.string().min(1).max(253).default(defaultKey).describe(`Key of the Secret that holds ${holds}.`);

const Schedule = z.string().max(256).regex(schedulePattern, 'must be @daily or five cron fields such as "30 2 * * *"');

const StoreSecret = z.object({
  name: z.string().min(1).max(253).describe('Name of the Secret.'),
  namespace: z
    .string()
    .max(63)
    .optional()
    .describe(
      'Namespace of the Secret. The one of the HostedControlPlane when unset; another one has to grant access by a label on the Secret.',
    ),
  accessKeyIDKey: secretKey('accessKeyID', 'the access key id'),
  secretAccessKeyKey: secretKey('secretAccessKey', 'the secret access key'),
  hostKey: secretKey('host', 'the host[:port] of the S3 service; AWS when the Secret has no such key'),
  regionKey: secretKey('region', 'the region'),
  bucketKey: secretKey('bucket', 'the bucket, with an optional prefix as in bucket/prefix'),
  certificateAuthorityKey: secretKey(
    'ca.crt',
    'certificates in PEM to trust the service by; the well-known ones without',
  ),
});

const WebIdentity = z.object({
  roleARN: z.string().min(1).max(2048).describe('Role that the ServiceAccount may assume.'),
  serviceAccountName: z
    .string()
    .min(1)
    .max(253)
    .describe('ServiceAccount in the namespace of the HostedControlPlane whose tokens prove who asks.'),
  audience: z.string().min(1).max(253).default('sts.amazonaws.com').describe('Audience of the tokens.'),
  tokenServiceURL: z
    .string()
    .max(2048)
    .optional()
    .describe('URL of the token service; the one of AWS in the region when unset.'),
});

const Retention = z.object({
  maxCount: z.int32().min(1).max(10_000).optional().describe('Keep at most so many backups; any number when unset.'),
  maxAge: Duration.optional().describe('Delete backups that are older, such as 720h; keep them for ever when unset.'),
});

const Encryption = z.object({
  secretName: z
    .string()
    .min(1)
    .max(253)
    .describe(
      'Secret in the namespace of the HostedControlPlane. Each of its keys holds 32 bytes, plain or in base64. Its annotation controlplane.cluster.x-k8s.io/encryption-key names the one that encrypts, needed when there are several; every one decrypts.',
    ),
});

const Verify = z.object({
  disabled: z.boolean().default(false).describe('Never restore a backup for a trial.'),
  every: z
    .int32()
    .min(1)
    .max(1_000)
    .default(7)
    .describe('Restore every so-manieth backup into an etcd of its own, compare the content, and remove it again.'),
  schedule: Schedule.optional().describe(
    'When the newest backup is verified besides: five cron fields or @daily, in the time zone of the backups.',
  ),
});

/** Snapshots of etcd in an S3-compatible bucket. */
export const Backup = z.object({
  schedule: Schedule.describe(
    'When a snapshot is taken: five cron fields, or @daily for a time of the night that differs from cluster to cluster.',
  ),
  timeZone: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('IANA time zone of the schedule, such as Europe/Berlin; UTC when unset.'),
  secret: StoreSecret.describe('Secret with the address of the bucket and the credentials for it.'),
  webIdentity: WebIdentity.optional().describe('Sign in as a ServiceAccount instead of with keys of the Secret.'),
  retention: Retention.prefault({}).describe(
    'How long backups are kept. The newest one, and the newest one that was verified, always are.',
  ),
  encryption: Encryption.optional().describe(
    'Encrypt backups before they leave. Only then does a backup also hold what is needed to rebuild the cluster elsewhere.',
  ),
  verify: Verify.prefault({}).describe(
    'Trial restores, which prove that backups are good and how long a restore takes.',
  ),
  beforeUpgrade: z.boolean().default(true).describe('Take a backup before the version of Kubernetes or etcd changes.'),
  beforeDeletion: z
    .boolean()
    .default(false)
    .describe('Take a last backup before the control plane is deleted; deletion waits for it.'),
});
export type Backup = z.output<typeof Backup>;
