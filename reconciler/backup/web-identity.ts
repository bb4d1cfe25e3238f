import { Agent, fetch } from 'undici';
import { StoreError, storeError } from './store-error.ts';
import type { StoreCredentials, StoreSettings } from './store-settings.ts';

/** Credentials of a role for some time, in the shape the AWS SDK takes. */
export interface SessionCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Some stores need none. */
  readonly sessionToken?: string;
  /** The SDK asks for new ones some minutes before. */
  readonly expiration: Date;
}

/** A token service answers within a second; a minute is one that hangs. */
const limitMs = 60_000;

/**
 * Exchanges a ServiceAccount token for credentials of a role (AssumeRoleWithWebIdentity). AWS, MinIO and Ceph have it.
 * The token is asked for anew each time, because it lives for an hour or so.
 */
export async function assumeRole(
  settings: StoreSettings,
  { roleArn, tokenService, token }: Extract<StoreCredentials, { kind: 'web-identity' }>,
): Promise<SessionCredentials> {
  const url = tokenService ?? `https://sts.${settings.region}.amazonaws.com`;
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: 'hosted-control-plane-backup',
    WebIdentityToken: await token(),
  });
  const { status, text } = await post(url, form, settings);
  const field = (name: string): string => new RegExp(`<${name}>\\s*([^<]+?)\\s*</${name}>`).exec(text)?.[1] ?? '';
  const [accessKeyId, secretAccessKey] = [field('AccessKeyId'), field('SecretAccessKey')];
  const expiration = new Date(field('Expiration'));
  if (status === 200 && accessKeyId && secretAccessKey && !Number.isNaN(expiration.getTime())) {
    const sessionToken = field('SessionToken');
    return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}), expiration };
  }
  const code = /^\w{2,64}$/.exec(field('Code'))?.[0] ?? `HTTP ${status}`;
  throw new StoreError(
    'CredentialsRefused',
    `assume role ${roleArn} at ${url}: refused with ${code}: let the role trust the issuer, audience and subject of the ServiceAccount's token`,
  );
}

async function post(
  url: string,
  form: URLSearchParams,
  settings: StoreSettings,
): Promise<{ status: number; text: string }> {
  const certificateAuthority = settings.certificateAuthority;
  const dispatcher = new Agent(certificateAuthority === undefined ? {} : { connect: { ca: certificateAuthority } });
  try {
    const answer = await fetch(url, { method: 'POST', body: form, dispatcher, signal: AbortSignal.timeout(limitMs) });
    return { status: answer.status, text: await answer.text() };
  } catch (thrown) {
    // fetch hides what happened in the cause
    const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
    const { reason } = storeError('assume a role', settings, cause);
    throw new StoreError(
      reason,
      `assume a role at ${url}: no answer from the token service (${reason}): let the provider through to it, or correct its URL`,
    );
  } finally {
    void dispatcher.close();
  }
}
