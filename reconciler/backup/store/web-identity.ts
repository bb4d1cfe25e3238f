import { Agent, type Dispatcher, fetch, ProxyAgent } from 'undici';
import { type Guard, insideSentence } from '../../clusters/network/destinations.ts';
import { guardedConnector } from '../../clusters/network/guarded-agent.ts';
import { AnswerTooLong, limitedText } from './answer-limit.ts';
import { limitedHints } from '../hints.ts';
import { proxyOf } from './proxy.ts';
import { StoreError, storeError } from './store-error.ts';
import type { StoreCredentials, StoreSettings } from './store-settings.ts';

/** Temporary credentials of a role, in the form that the AWS SDK expects. */
export interface SessionCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Some stores need none. */
  readonly sessionToken?: string;
  /** The SDK requests new ones some minutes earlier. */
  readonly expiration: Date;
}

/** A token service answers within a second. After a minute it counts as hanging. */
const limitMs = 60_000;

/**
 * Exchanges a ServiceAccount token for credentials of a role (AssumeRoleWithWebIdentity), which AWS, MinIO and Ceph
 * support. It requests a new token each time, because tokens expire after an hour or so.
 */
export async function assumeRole(
  settings: StoreSettings,
  { roleArn, tokenService, token }: Extract<StoreCredentials, { kind: 'webIdentity' }>,
  guard?: Guard,
): Promise<SessionCredentials> {
  const url = tokenService ?? `https://sts.${settings.region}.amazonaws.com`;
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: 'hosted-control-plane-backup',
    WebIdentityToken: await token(),
  });
  const { status, text } = await post(url, form, settings, guard);
  const field = (name: string): string => textOf(text, name);
  const [accessKeyId, secretAccessKey] = [field('AccessKeyId'), field('SecretAccessKey')];
  const expiration = new Date(field('Expiration'));
  if (status === 200 && accessKeyId && secretAccessKey && !Number.isNaN(expiration.getTime())) {
    const sessionToken = field('SessionToken');
    return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}), expiration };
  }
  if (guard?.isSecretive && field('Code') === '')
    throw new StoreError('Unreachable', `cannot assume a role at ${url}: ${insideSentence}`);
  const code = /^\w{2,64}$/.exec(field('Code'))?.[0] ?? `HTTP ${status}`;
  throw new StoreError(
    'CredentialsRefused',
    `cannot assume role ${roleArn} at ${url}: the token service refused with ${code}: configure the role to trust the issuer, audience and subject of the ServiceAccount's token`,
  );
}

/** The text of the first element of a name that contains nothing else; empty without one. */
function textOf(xml: string, name: string): string {
  const start = `<${name}>`;
  const from = xml.indexOf(start) + start.length;
  const to = from < start.length ? -1 : xml.indexOf('<', from);
  return xml.startsWith(`</${name}>`, to) ? xml.slice(from, to).trim() : '';
}

async function post(
  url: string,
  form: URLSearchParams,
  settings: StoreSettings,
  guard: Guard | undefined,
): Promise<{ status: number; text: string }> {
  const proxy = proxyOf(url, settings.environment ?? process.env);
  const whole = dispatcherFor(proxy, settings, guard);
  const dispatcher = whole.compose(limitedHints);
  try {
    if (proxy !== undefined) guard?.admitBehindProxy(new URL(url));
    const signal = AbortSignal.timeout(limitMs);
    // Following a redirect would send the token to another server.
    const answer = await fetch(url, { method: 'POST', body: form, redirect: 'manual', dispatcher, signal });
    return { status: answer.status, text: await limitedText(answer.body) };
  } catch (thrown) {
    if (guard?.isSecretive) throw new StoreError('Unreachable', `cannot assume a role at ${url}: ${insideSentence}`);
    if (thrown instanceof AnswerTooLong) {
      throw new StoreError(
        'AnswerTooLong',
        `cannot assume a role at ${url}: the answer does not end, as that of no token service: correct etcd.backup.webIdentity.tokenServiceURL`,
      );
    }
    // fetch hides the actual error in the cause.
    const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown;
    const { reason } = storeError('assume a role', settings, cause);
    const way = proxy === undefined ? '' : ' through the proxy of HTTPS_PROXY';
    const exception = proxy === undefined ? '' : ', name its host in NO_PROXY';
    throw new StoreError(
      reason,
      `cannot assume a role at ${url}: no response from the token service${way} (${reason}): allow connections from the operator to it${exception}, or correct its URL`,
    );
  } finally {
    void whole.close();
  }
}

function dispatcherFor(
  proxy: string | undefined,
  { certificateAuthority }: StoreSettings,
  guard: Guard | undefined,
): Dispatcher {
  const tls = certificateAuthority === undefined ? {} : { ca: certificateAuthority };
  if (proxy !== undefined) return new ProxyAgent({ uri: proxy, requestTls: tls });
  return new Agent({ connect: guard ? guardedConnector(tls, guard) : tls });
}
