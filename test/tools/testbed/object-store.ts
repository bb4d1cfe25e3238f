import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lanAddress, type Instance } from './instance.ts';
import { killSaved } from './process-record.ts';

/** The content of a Secret for `etcd.backup.secret`, by the usual keys. */
export interface ObjectStoreCredentials {
  readonly accessKeyID: string;
  readonly secretAccessKey: string;
  readonly host: string;
  readonly region: string;
  readonly bucket: string;
  readonly 'ca.crt': string;
}

/** The port it listens on. */
export const objectStorePort = 9000;

/** The directory of the objects, a folder per bucket, beside the server's log and its certificates. */
export function objectStoreDirectory(instance: Instance): string {
  return join(instance.directory, 'object-store');
}

/** Records the process of the server. */
export function objectStorePidFile(instance: Instance): string {
  return join(objectStoreDirectory(instance), 'versitygw.pid');
}

/** Address it listens on: the host's on the bridge, which machines and their pods reach. */
export function objectStoreAddress(instance: Instance): string {
  return lanAddress(instance, 1);
}

/** Its settings. Throws if it was never started. */
export async function objectStoreCredentials(instance: Instance): Promise<ObjectStoreCredentials> {
  return {
    accessKeyID: 'testbed',
    secretAccessKey: 'secret-of-the-testbed',
    host: `${objectStoreAddress(instance)}:${objectStorePort}`,
    region: 'us-east-1',
    bucket: 'backups',
    'ca.crt': await readFile(join(objectStoreDirectory(instance), 'ca.crt'), 'utf8'),
  };
}

/** Ends the server, if it runs; its objects stay until the instance is removed. */
export async function stopObjectStore(instance: Instance): Promise<void> {
  await killSaved(objectStorePidFile(instance));
}
