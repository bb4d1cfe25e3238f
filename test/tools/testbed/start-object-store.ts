import { CreateBucketCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { spawn } from 'node:child_process';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { createCA, issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';
import { findFurtherBinaries } from './binaries.ts';
import { objectStore } from './families.ts';
import type { Instance } from './instance.ts';
import {
  objectStoreAddress,
  objectStoreCredentials,
  objectStoreDirectory,
  objectStorePidFile,
} from './object-store.ts';
import { savedProcess, saveProcess } from './process-record.ts';
import { type Report, until } from './progress.ts';

const lifetimeMs = 365 * 24 * 3_600_000;

/**
 * Starts an S3 server with an empty bucket, with TLS by its own CA. It is a process on the host,
 * outside of every machine: it outlives the management cluster, and ends with the testbed. A running one is not changed.
 */
export async function startObjectStore(instance: Instance, report: Report): Promise<void> {
  if (await savedProcess(objectStorePidFile(instance))) return;
  const directory = objectStoreDirectory(instance);
  for (const name of ['data', 'accounts']) await mkdir(join(directory, name), { recursive: true });
  // clients that trusted it must trust it after a restart
  await objectStoreCredentials(instance).catch(() => writeCertificates(instance));
  await spawnServer(instance, report);
  await untilBucket(instance);
}

async function spawnServer(instance: Instance, report: Report): Promise<void> {
  const directory = objectStoreDirectory(instance);
  const { accessKeyID, secretAccessKey, host } = await objectStoreCredentials(instance);
  const log = await open(logFile(instance), 'a');
  const { versitygw = '' } = await findFurtherBinaries([objectStore], instance.cache, report);
  const child = spawn(
    versitygw,
    [
      `--port=${host}`,
      // without accounts it answers an unknown key id differently than any other store
      `--iam-dir=${join(directory, 'accounts')}`,
      '--keep-alive',
      '--quiet',
      `--cert=${join(directory, 'server.crt')}`,
      `--key=${join(directory, 'server.key')}`,
      'posix',
      join(directory, 'data'),
    ],
    {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { ROOT_ACCESS_KEY: accessKeyID, ROOT_SECRET_KEY: secretAccessKey },
    },
  );
  await log.close();
  child.unref();
  if (child.pid === undefined) throw new Error('versitygw cannot be started: see npm run testbed -- up');
  await saveProcess(objectStorePidFile(instance), child.pid);
}

async function writeCertificates(instance: Instance): Promise<void> {
  const directory = objectStoreDirectory(instance);
  const validity = validFor(lifetimeMs, new Date());
  const certificateAuthority = await createCA({ commonName: 'object-store' }, validity);
  const hosts = [objectStoreAddress(instance)];
  const server = { commonName: 'object-store', organizations: [], usages: ['server'] as const, hosts };
  const { certificate, key } = await issueCertificate(server, certificateAuthority, validity);
  await writeFile(join(directory, 'ca.crt'), certificateAuthority.certificate);
  await writeFile(join(directory, 'server.crt'), certificate);
  await writeFile(join(directory, 'server.key'), key, { mode: 0o600 });
}

async function untilBucket(instance: Instance): Promise<void> {
  const { host, region, bucket, accessKeyID, secretAccessKey, 'ca.crt': ca } = await objectStoreCredentials(instance);
  const client = new S3Client({
    endpoint: `https://${host}`,
    region,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: accessKeyID, secretAccessKey },
    requestHandler: { httpsAgent: new Agent({ ca }) },
  });
  try {
    const expectation = { what: 'a bucket of the object store', timeoutMs: 20_000, log: logFile(instance) };
    await until(expectation, () => client.send(new CreateBucketCommand({ Bucket: bucket })).then(() => true, isOwned));
  } finally {
    client.destroy();
  }
}

/** A server that is restarted with its data has the bucket. */
function isOwned(error: unknown): boolean {
  if (error instanceof S3ServiceException && error.name === 'BucketAlreadyOwnedByYou') return true;
  throw error;
}

function logFile(instance: Instance): string {
  return join(objectStoreDirectory(instance), 'versitygw.log');
}
