import { z } from 'zod';
import { Duration } from './duration.ts';
import { dataKey, namespaceName, objectName } from './object-name.ts';
import { Schedule, TimeZone } from './schedule.ts';

const secretKey = (defaultKey: string, holds: string) =>
  dataKey().default(defaultKey).describe(`Key of the Secret that holds ${holds}.`);

const StoreSecret = z.object({
  name: objectName().describe('Name of the Secret.'),
  namespace: namespaceName()
    .optional()
    .describe(
      'Namespace of the Secret; the namespace of the HostedControlPlane when unset. The annotation controlplane.cluster.x-k8s.io/backup-access of a Secret in another namespace must name this namespace, and its keys have the default names.',
    ),
  accessKeyIDKey: secretKey('accessKeyID', 'the access key ID'),
  secretAccessKeyKey: secretKey('secretAccessKey', 'the secret access key'),
  hostKey: secretKey('host', 'the host[:port] of the S3 service; AWS when the Secret does not have this key'),
  regionKey: secretKey('region', 'the region'),
  bucketKey: secretKey('bucket', 'the bucket, with an optional prefix as in bucket/prefix'),
  certificateAuthorityKey: secretKey(
    'ca.crt',
    'the PEM certificates with which to verify the service; the well-known CAs when the Secret does not have this key',
  ),
});

const visible = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[!-~]+$/, 'must have no spaces, and no other than ASCII characters');

const WebIdentity = z.object({
  roleARN: visible(2048).describe('ARN of the role that the ServiceAccount may assume.'),
  serviceAccountName: objectName().describe(
    'ServiceAccount in the namespace of the HostedControlPlane whose tokens authenticate to the token service. Its annotation controlplane.cluster.x-k8s.io/backup-identity-of must name the HostedControlPlane.',
  ),
  audience: visible(253)
    .default('sts.amazonaws.com')
    .describe('Audience of the tokens. Audiences that the management API server accepts are refused.'),
  tokenServiceURL: z
    .string()
    .max(2048)
    .regex(/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/, 'must be a URL with https, without user, query and fragment')
    .optional()
    .describe(
      'URL of the token service, with https; the token service of AWS in the region when unset. The annotation controlplane.cluster.x-k8s.io/backup-token-services of the ServiceAccount names its host[:port].',
    ),
});

const Retention = z.object({
  maxCount: z
    .int32()
    .min(1)
    .max(10_000)
    .optional()
    .describe('Maximum number of backups to keep; unlimited when unset.'),
  maxAge: Duration.optional().describe(
    'Maximum age of backups, such as 720h, measured from the newest one. Older backups are deleted; none are when unset. More than two periods of the schedule without a backup count as one.',
  ),
});

const Encryption = z.object({
  secretName: objectName().describe(
    'Name of the Secret in the namespace of the HostedControlPlane. Each of its keys holds 32 bytes, plain or in base64. Its annotation controlplane.cluster.x-k8s.io/encryption-key names the key that encrypts, and is required when there are several. Every key decrypts.',
  ),
});

const Verify = z.object({
  disabled: z.boolean().default(false).describe('Disable the verification of backups.'),
  every: z
    .int32()
    .min(1)
    .max(1_000)
    .default(7)
    .describe(
      'Verify every Nth backup: restore it into a separate etcd, compare the content, and remove that etcd again.',
    ),
  schedule: Schedule.optional().describe(
    'Additional schedule on which the newest backup is verified: five cron fields, @hourly, @daily or @weekly.',
  ),
});

/** Snapshots of etcd in an S3-compatible bucket. */
export const Backup = z.object({
  schedule: Schedule.describe(
    'Schedule of the backups: five cron fields, or @hourly, @daily or @weekly at a time of its own for each cluster.',
  ),
  timeZone: TimeZone.optional().describe('IANA time zone of the schedule, such as Europe/Berlin; UTC when unset.'),
  secret: StoreSecret.describe('Secret with the address of the bucket and its credentials.'),
  webIdentity: WebIdentity.optional().describe(
    'Authenticate as a ServiceAccount instead of with the access keys in the Secret.',
  ),
  retention: Retention.prefault({}).describe(
    'Which backups are kept. Retention always keeps the newest and the newest verified backup.',
  ),
  encryption: Encryption.optional().describe(
    'Encrypt backups before they are uploaded. Only an encrypted backup also contains the CAs and keys with which to rebuild the cluster elsewhere.',
  ),
  verify: Verify.prefault({}).describe(
    'Verification of backups, which proves that they can be restored and measures how long a restore takes.',
  ),
  beforeUpgrade: z
    .boolean()
    .default(true)
    .describe('Take a backup before a minor version of Kubernetes or etcd changes.'),
  beforeDeletion: z
    .boolean()
    .default(false)
    .describe('Take a final backup before the control plane is deleted. The deletion waits for it.'),
});
export type Backup = z.output<typeof Backup>;
