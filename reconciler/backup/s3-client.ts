import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { Agent } from 'node:https';
import type { StoreSettings } from './store-settings.ts';
import { assumeRole } from './web-identity.ts';

/** How long the client waits. */
export interface ClientLimits {
  /** For a connection. */
  readonly connectMs: number;
  /** For any byte to move on a connection. */
  readonly idleMs: number;
}

/** The client of a store. Destroy it after use: it keeps connections open. */
export function s3Client(settings: StoreSettings, { connectMs, idleMs }: ClientLimits): S3Client {
  const { endpoint, region, credentials, certificateAuthority } = settings;
  const client = new S3Client({
    region,
    maxAttempts: 3,
    credentials:
      credentials.kind === 'static'
        ? { accessKeyId: credentials.accessKeyId, secretAccessKey: credentials.secretAccessKey }
        : () => assumeRole(settings, credentials),
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: idleMs,
      // not its options: for large bodies the client makes another agent then, and that one knows no authority
      httpsAgent: new Agent({
        keepAlive: true,
        ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
      }),
    },
    // proxies before stores know it badly, and the client waits a second for each part in vain
    expectContinueHeader: false,
    ...(endpoint === undefined ? {} : compatibleStore(endpoint)),
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw namedSilence(error);
      }
    },
    // inside of the client's retries
    { step: 'finalizeRequest', priority: 'low', name: 'noRetryOfSilence' },
  );
  return client;
}

/** Stores other than AWS: no wildcard certificates for buckets, and some (Swift, Ceph) refuse the newer checksums. */
function compatibleStore(endpoint: string): S3ClientConfig {
  return {
    endpoint,
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  };
}

/**
 * Gives the error of a connection on which nothing moved a name of its own. After errors of the name that it comes with the
 * client tries again, and a store that hangs would be waited for three times.
 */
export function namedSilence(error: unknown): unknown {
  const isSilence = error instanceof Error && error.name === 'TimeoutError' && error.message.includes('inactivity');
  return isSilence ? Object.assign(new Error(error.message), { name: 'SilentConnection' }) : error;
}
