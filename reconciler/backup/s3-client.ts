import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
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
      httpsAgent: { keepAlive: true, ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }) },
    },
    ...(endpoint === undefined ? {} : compatibleStore(endpoint)),
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw withoutRetryOfSilence(error);
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

/** A store that hangs would be waited for three times: the client retries after errors of the name that it gives this one. */
function withoutRetryOfSilence(error: unknown): unknown {
  const isSilence = error instanceof Error && error.name === 'TimeoutError' && error.message.includes('inactivity');
  return isSilence ? Object.assign(new Error(error.message), { name: 'SilentConnection' }) : error;
}
