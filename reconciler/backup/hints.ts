import type { Agent, ClientRequest } from 'node:http';
import { AnswerTooLong } from './store/answer-limit.ts';

/**
 * Most answers with a status of 1xx before the actual one. Without a limit a server sends one after the other: the connection is
 * never silent, and the operator does nothing but read them.
 */
const mostHints = 100;

/** What `http.request` hands a request to. The types have no name for it. */
interface RequestTaker {
  addRequest(request: ClientRequest, ...rest: unknown[]): void;
}

function tooMany(): AnswerTooLong {
  return new AnswerTooLong('the answer does not end');
}

/** Ends those requests of an agent whose server sends more hints than any store. */
export function limitHints(agent: Agent): void {
  const taker = agent as unknown as RequestTaker;
  const addRequest = taker.addRequest.bind(agent);
  taker.addRequest = (request, ...rest) => {
    let hints = 0;
    request.on('information', () => {
      hints += 1;
      if (hints > mostHints) request.destroy(tooMany());
    });
    addRequest(request, ...rest);
  };
}
