import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import type { Guard } from '../../clusters/network/destinations.ts';
import { inSpan } from '../../kube/span.ts';
import { agentsFor, limitedAnswers } from './bounded-client.ts';
import type { StoreSettings } from './store-settings.ts';
import { assumeRole } from './web-identity.ts';

/** Timeouts of the client. */
interface ClientLimits {
  /** Limit for a connection. */
  readonly connectMs: number;
  /** Limit without any traffic on a connection. */
  readonly idleMs: number;
}

/** The client of a store. Destroy it after use, because it keeps connections open. */
export function s3Client(settings: StoreSettings, { connectMs, idleMs }: ClientLimits, guard?: Guard): S3Client {
  const { endpoint, region, bucket, credentials } = settings;
  const url = new URL(endpoint ?? awsUrl(bucket, region));
  // Not as options: for large bodies the client would create another agent without the CA.
  const { agents, proxy } = agentsFor(url.href, settings, guard);
  const client = new S3Client({
    region,
    maxAttempts: 3,
    credentials:
      credentials.kind === 'static'
        ? { accessKeyId: credentials.accessKeyId, secretAccessKey: credentials.secretAccessKey }
        : () => assumeRole(settings, credentials, guard),
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: idleMs,
      ...agents,
    },
    // Proxies in front of stores often do not support it, and the client would wait one second for each part.
    expectContinueHeader: false,
    // By default the client writes a line for each stream that it cannot send again.
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    ...(endpoint === undefined ? {} : compatibleStore(endpoint)),
  });
  if (endpoint !== undefined) {
    client.middlewareStack.add((next) => (args) => next({ ...args, input: withMD5(args.input) }), {
      step: 'initialize',
      name: 'contentMD5',
    });
  }
  if (proxy !== undefined && guard) {
    client.middlewareStack.add(
      (next) => (args) => {
        guard.admitBehindProxy(url);
        return next(args);
      },
      { step: 'initialize', name: 'guardBehindProxy' },
    );
  }
  client.middlewareStack.add(
    (next, { commandName = 'call' }) =>
      (args) =>
        inSpan(`S3 ${commandName.replace(/Command$/, '')}`, {}, () => next(args)),
    // Around the client's retries.
    { step: 'initialize', priority: 'high', name: 'traces' },
  );
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw namedSilence(error);
      }
    },
    // Inside the client's retries.
    { step: 'finalizeRequest', priority: 'low', name: 'noRetryOfSilence' },
  );
  client.middlewareStack.use(limitedAnswers());
  return client;
}

const silent = (): void => {};

/** Where AWS has a bucket. One whose name is no host name is in the path. */
function awsUrl(bucket: string, region: string): string {
  const own = `https://${bucket}.s3.${region}.amazonaws.com`;
  return URL.canParse(own) ? own : `https://s3.${region}.amazonaws.com`;
}

/**
 * A bucket with Object Lock refuses content without a checksum, and every store knows MD5. It is no protection against an attacker here:
 * the signature covers the content.
 */
function withMD5<T extends object>(input: T): T {
  const body = 'Body' in input ? input.Body : undefined;
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return input;
  return { ...input, ContentMD5: createHash('md5').update(body).digest('base64') };
}

/**
 * Stores other than AWS have no wildcard certificates for buckets, and some (Swift, Ceph) refuse the newer checksums.
 */
function compatibleStore(endpoint: string): S3ClientConfig {
  return {
    endpoint,
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  };
}

/**
 * Renames the error of a connection without traffic. The client retries after errors of the original name, and would
 * wait three times for a store that hangs.
 */
export function namedSilence(error: unknown): unknown {
  const isSilence = error instanceof Error && error.name === 'TimeoutError' && error.message.includes('inactivity');
  return isSilence ? Object.assign(new Error(error.message), { name: 'SilentConnection' }) : error;
}
