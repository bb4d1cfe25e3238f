import { fromWebToken } from '@aws-sdk/credential-provider-web-identity';
import { type Guard, insideSentence } from '../../clusters/network/destinations.ts';
import { agentsFor, limitedAnswers } from './bounded-client.ts';
import { AnswerTooLong } from './answer-limit.ts';
import { StoreError, storeError, type StoreFailure } from './store-error.ts';
import type { StoreCredentials, StoreSettings } from './store-settings.ts';

/** Temporary credentials of a role. The SDK requests new ones some minutes before they expire. */
export type SessionCredentials = Awaited<ReturnType<ReturnType<typeof fromWebToken>>>;

/** A token service answers within a second. After a minute it counts as hanging. */
const longestExchangeMs = 60_000;

/** What ends a connection before its answer is there. */
const noAnswer: readonly StoreFailure[] = ['Unreachable', 'CertificateNotTrusted', 'ProxyRefused', 'Stalled'];

/**
 * Exchanges a ServiceAccount token for credentials of a role (AssumeRoleWithWebIdentity), which AWS, MinIO and Ceph
 * support. It requests a new token each time, because tokens expire after an hour or so.
 * @param limitMs after this time it fails, whatever the token service sends
 */
export async function assumeRole(
  settings: StoreSettings,
  { roleArn, tokenService, token }: Extract<StoreCredentials, { kind: 'webIdentity' }>,
  guard?: Guard,
  limitMs = longestExchangeMs,
): Promise<SessionCredentials> {
  const url = tokenService ?? `https://sts.${settings.region}.amazonaws.com`;
  const webIdentityToken = await token();
  const { agents, proxy } = agentsFor(url, settings, guard);
  let status: number | undefined;
  const provide = fromWebToken({
    roleArn,
    roleSessionName: 'hosted-control-plane-backup',
    webIdentityToken,
    clientConfig: {
      region: settings.region,
      endpoint: url,
      maxAttempts: 1,
      // The handler follows no redirect, which would send the token to another server.
      requestHandler: { ...agents },
    },
    clientPlugins: [limitedAnswers((seen) => void (status = seen))],
  });
  const endAll = () => Object.values(agents).forEach((agent) => agent.destroy());
  const deadline = setTimeout(endAll, limitMs);
  try {
    if (proxy !== undefined) guard?.admitBehindProxy(new URL(url));
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await provide();
    if (!expiration) throw new Error('the credentials have no end');
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }), expiration };
  } catch (thrown) {
    const code = codeOf(thrown);
    if (guard?.isSecretive && code === undefined)
      throw new StoreError('Unreachable', `cannot assume a role at ${url}: ${insideSentence}`);
    if (thrown instanceof AnswerTooLong) {
      throw new StoreError(
        'AnswerTooLong',
        `cannot assume a role at ${url}: the answer does not end, unlike every answer of a token service: correct etcd.backup.webIdentity.tokenServiceURL`,
      );
    }
    const { reason } = storeError('assume a role', settings, thrown);
    if (code !== undefined || (status !== undefined && !noAnswer.includes(reason))) {
      throw new StoreError(
        'CredentialsRefused',
        `cannot assume role ${roleArn} at ${url}: the token service refused with ${code ?? `HTTP ${status}`}: configure the role to trust the issuer, audience and subject of the ServiceAccount's token`,
      );
    }
    const way = proxy === undefined ? '' : ' through the proxy of HTTPS_PROXY';
    const exception = proxy === undefined ? '' : ', name its host in NO_PROXY';
    throw new StoreError(
      reason,
      `cannot assume a role at ${url}: no response from the token service${way} (${reason}): allow connections from the operator to it${exception}, or correct its URL`,
    );
  } finally {
    clearTimeout(deadline);
    endAll();
  }
}

/** The code by which a token service refuses, such as `InvalidIdentityToken`; undefined for an answer without one. */
function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('$fault' in thrown) || !('Code' in thrown)) return undefined;
  return /^\w{2,64}$/.exec(String(thrown.Code))?.[0];
}
