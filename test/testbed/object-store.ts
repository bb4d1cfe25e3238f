import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lanAddress, type Instance } from './instance.ts';
import { killSaved } from './process-record.ts';

/** What a Secret for `etcd.backup.secret` holds, by the usual keys. */
export interface ObjectStoreCredentials {
  readonly accessKeyID: string;
  readonly secretAccessKey: string;
  readonly host: string;
  readonly region: string;
  readonly bucket: string;
  readonly 'ca.crt': string;
}

/** The port it listens at. */
export const objectStorePort = 9000;

/** Where objects are as files, a folder per bucket, beside the server's log and its certificates. */
export function objectStoreDirectory(instance: Instance): string {
  return join(instance.directory, 'object-store');
}

/** Names the process of the server. */
export function objectStorePidFile(instance: Instance): string {
  return join(objectStoreDirectory(instance), 'versitygw.pid');
}

/** Address it listens at: the host's on the bridge, which machines and their pods reach. */
export function objectStoreAddress(instance: Instance): string {
  return lanAddress(instance, 1);
}

/** How to use it. Throws when it was never started. */
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

/** Ends the server, if it runs; what it stores stays until the instance goes. */
export async function stopObjectStore(instance: Instance): Promise<void> {
  await killSaved(objectStorePidFile(instance));
}
