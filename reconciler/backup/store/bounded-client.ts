import type { S3Client } from '@aws-sdk/client-s3';
import type { Agent, ClientRequest } from 'node:http';
import type { Agent as SecureAgent } from 'node:https';
import { Readable } from 'node:stream';
import { type Guard, guardedAgents, proxiedAgents } from '../../clusters/network/destinations.ts';
import { limitedReadable, AnswerTooLong } from './answer-limit.ts';
import { proxyOf } from './proxy.ts';
import type { StoreSettings } from './store-settings.ts';

/** How a client of the AWS SDK reaches a service that a user names. */
interface BoundedAgents {
  /** In the form of a request handler. */
  readonly agents: { readonly httpAgent: Agent; readonly httpsAgent: SecureAgent };
  /** URL of the proxy; undefined without one. */
  readonly proxy: string | undefined;
}

/** Agents with the CA of the settings, on whose every connection the guard decides. Destroy them after use. */
export function agentsFor(url: string, settings: StoreSettings, guard: Guard | undefined): BoundedAgents {
  const { certificateAuthority, environment = process.env } = settings;
  const proxy = proxyOf(url, environment);
  const options = { keepAlive: true, ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }) };
  const agents = proxy === undefined ? guardedAgents(options, guard) : proxiedAgents(options, proxy);
  for (const agent of Object.values(agents)) limitHints(agent);
  return { agents: { httpAgent: agents.http, httpsAgent: agents.https }, proxy };
}

/**
 * Most answers with a status of 1xx before the actual one. Without a limit a server sends one after the other: the connection is
 * never silent, and the operator does nothing but read them.
 */
const mostHints = 100;

/** What `http.request` hands a request to. The types have no name for it. */
interface RequestTaker {
  addRequest(request: ClientRequest, ...rest: unknown[]): void;
}

/** Ends those requests of an agent whose server sends more hints than any store. */
function limitHints(agent: Agent): void {
  const taker = agent as unknown as RequestTaker;
  const addRequest = taker.addRequest.bind(agent);
  taker.addRequest = (request, ...rest) => {
    let hints = 0;
    request.on('information', () => {
      hints += 1;
      if (hints > mostHints) request.destroy(new AnswerTooLong('the answer does not end'));
    });
    addRequest(request, ...rest);
  };
}

/**
 * Limits every answer that a client of the SDK collects in memory: all but the content of an object.
 * @param onAnswer gets the status of each answer
 */
export function limitedAnswers(
  onAnswer: (status: number) => void = () => {},
): Parameters<S3Client['middlewareStack']['use']>[0] {
  return {
    applyToStack(stack) {
      stack.add(
        (next, { commandName }) =>
          async (args) => {
            const result = await next(args);
            const { response } = result;
            if (!isAnswer(response)) return result;
            onAnswer(response.statusCode);
            if (!(commandName === 'GetObjectCommand' && response.statusCode < 300))
              response.body = limitedReadable(response.body);
            return result;
          },
        // Between the connection and the client's parser.
        { step: 'deserialize', priority: 'low', name: 'limitedAnswers' },
      );
    },
  };
}

function isAnswer(response: unknown): response is { readonly statusCode: number; body: Readable } {
  return (
    typeof response === 'object' &&
    response !== null &&
    'statusCode' in response &&
    'body' in response &&
    response.body instanceof Readable
  );
}
