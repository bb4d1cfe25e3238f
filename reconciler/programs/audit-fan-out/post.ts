import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { Target } from '../../../constructs/control-plane/api-server/audit/fan-out-config.ts';
import { joinEventLists, type Records } from './event-list.ts';
import type { Attempt } from './target-queue.ts';

/** Answers that depend on the content: the same records would get the same one again. */
const refusals: readonly (number | undefined)[] = [400, 413, 415, 422];

/**
 * Posts records to one receiver over one connection, which stays open.
 * @param timeoutMs for each request with its answer
 */
export function createSender(target: Target, timeoutMs: number): (lists: readonly Records[]) => Promise<Attempt> {
  const url = new URL(target.server);
  const agentOptions = { keepAlive: true, maxSockets: 1 };
  const { certificateAuthority: ca } = target;
  const isSecure = url.protocol === 'https:';
  const agent = isSecure
    ? new https.Agent({ ...agentOptions, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) })
    : new http.Agent(agentOptions);
  const send = async (body: readonly Buffer[], signal: AbortSignal): Promise<number | undefined> => {
    const headers = {
      'content-type': 'application/json',
      'content-length': body.reduce((total, { length }) => total + length, 0),
      ...(await authorization(target)),
    };
    const request = (isSecure ? https : http).request(url, { method: 'POST', agent, headers, signal });
    return post(request, body).catch((error: unknown) => {
      // The receiver has ended the idle connection at the same moment.
      if (request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET') return send(body, signal);
      throw error;
    });
  };
  return async (lists) => {
    try {
      return attemptOf(await send(joinEventLists(lists), AbortSignal.timeout(timeoutMs)));
    } catch (error) {
      return { kind: 'failed', why: messageOf(error, timeoutMs) };
    }
  };
}

/** A token that changes is sent from the next request on. */
async function authorization({ tokenFile }: Target): Promise<{ authorization?: string }> {
  if (tokenFile === undefined) return {};
  return { authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` };
}

function post(request: http.ClientRequest, body: readonly Buffer[]): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode));
      response.resume();
    });
    for (const chunk of body) request.write(chunk);
    request.end();
  });
}

function attemptOf(status: number | undefined): Attempt {
  if (status !== undefined && status >= 200 && status < 300) return { kind: 'delivered' };
  return { kind: refusals.includes(status) ? 'refused' : 'failed', why: `it answers with status ${status}` };
}

function messageOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'AbortError' || error.name === 'TimeoutError'
    ? `it has not answered for ${timeoutMs / 1000} seconds`
    : error.message;
}
