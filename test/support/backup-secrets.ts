import { Secret } from '../../constructs/api/resources.ts';
import type { StoreSettings } from '../../reconciler/backup/store/store-settings.ts';

/** The Secret `name` with the keys that `etcd.backup.secret` needs, with changes that a test requests. */
export function storeSecret(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { endpoint = '', region, bucket, certificateAuthority, credentials }: StoreSettings,
  changes: Readonly<Record<string, string>> = {},
) {
  if (credentials.kind !== 'static') throw new Error('only static keys fit into a Secret');
  const values = {
    host: endpoint,
    region,
    bucket,
    accessKeyID: credentials.accessKeyId,
    secretAccessKey: credentials.secretAccessKey,
    ...(certificateAuthority === undefined ? {} : { 'ca.crt': certificateAuthority }),
    ...changes,
  };
  const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: { namespace, name },
    data: Object.fromEntries(data) as Record<string, string>,
  };
}
