import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreSettings } from '../../reconciler/backup/store/store-settings.ts';
import { createCA, issueCertificate, validFor } from '../../reconciler/pki/issue.ts';
import { findFurtherBinaries } from '../tools/testbed/binaries.ts';
import { objectStore } from '../tools/testbed/families.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { ChildProgram } from './child-program.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

const accessKeyId = 'test-key-id';
const secretAccessKey = 'test-secret-of-the-store';
const bucket = 'backups';

/** An S3 server with an empty bucket on a port of this machine, for tests that disturb or kill it. */
export interface S3 {
  /** The settings for its bucket. */
  readonly settings: StoreSettings;
  /** The directory of the objects: a folder per bucket. */
  readonly directory: string;
  /** A plain client, to read the bucket without the code under test. */
  readonly client: S3Client;
  /** Keys of uploads that were started and not completed. */
  unfinishedUploads(): Promise<string[]>;
  /** Kills it and removes its files. */
  stop(): Promise<void>;
}

/**
 * Starts versitygw, in a fraction of a second.
 * @param security `tls` for a certificate of a CA that only `settings` contains
 * @param place directory below which it keeps everything
 * @param host address of this machine at which it listens
 */
export async function startS3(
  security: 'plain' | 'tls' = 'plain',
  { place = tmpdir(), host = '127.0.0.1' }: { readonly place?: string; readonly host?: string } = {},
): Promise<S3> {
  const binaries = await findFurtherBinaries([objectStore], instanceFrom(process.env).cache, () => {});
  const directory = await mkdtemp(join(place, 's3-'));
  const port = await freePort();
  const tls = security === 'tls' ? await writeCertificates(directory, host) : undefined;
  const child = await spawnServer(binaries['versitygw'] ?? '', directory, `${host}:${port}`, tls?.flags ?? []);
  const settings: StoreSettings = {
    endpoint: `${tls ? 'https' : 'http'}://${host}:${port}`,
    region: 'us-east-1',
    bucket,
    prefix: '',
    certificateAuthority: tls?.certificateAuthority,
    credentials: { kind: 'static', accessKeyId, secretAccessKey },
  };
  const client = plainClient(settings);
  await until('the S3 server to take a bucket', () => isBucketMade(client));
  return {
    settings,
    directory: join(directory, 'data'),
    client,
    unfinishedUploads: async () => {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
      return Uploads.map(({ Key = '' }) => Key);
    },
    stop: async () => {
      client.destroy();
      await child.end();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function spawnServer(
  path: string,
  directory: string,
  address: string,
  flags: readonly string[],
): Promise<ChildProgram> {
  for (const name of ['data', 'iam']) await mkdir(join(directory, name));
  // without accounts it answers an unknown key id differently than any other store
  const args = ['--port', address, '--iam-dir', join(directory, 'iam'), '--keep-alive', '--quiet', ...flags];
  return new ChildProgram(path, [...args, 'posix', join(directory, 'data')], {
    log: join(directory, 'versitygw.log'),
    env: { ...process.env, ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey },
  });
}

async function writeCertificates(
  directory: string,
  host: string,
): Promise<{ certificateAuthority: string; flags: string[] }> {
  const validity = validFor(60 * 60_000, new Date());
  const certificateAuthority = await createCA({ commonName: 's3' }, validity);
  const plan = { commonName: 's3', organizations: [], usages: ['server' as const], hosts: [host] };
  const { certificate, key } = await issueCertificate(plan, certificateAuthority, validity);
  await writeFile(join(directory, 'server.crt'), certificate);
  await writeFile(join(directory, 'server.key'), key);
  const flags = ['--cert', join(directory, 'server.crt'), '--key', join(directory, 'server.key')];
  return { certificateAuthority: certificateAuthority.certificate, flags };
}

function plainClient({ endpoint = '', region, certificateAuthority }: StoreSettings): S3Client {
  return new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId, secretAccessKey },
    requestHandler: { httpsAgent: new Agent(certificateAuthority === undefined ? {} : { ca: certificateAuthority }) },
  });
}

function isBucketMade(client: S3Client): Promise<boolean> {
  return client.send(new CreateBucketCommand({ Bucket: bucket })).then(
    () => true,
    () => false,
  );
}
