import type { Session } from '../../reconciler/cli/command.ts';
import { plainView } from '../../reconciler/cli/view.ts';

/** A session of `hcp` without a terminal, and what it prints. */
export interface TestSession {
  readonly session: Session;
  /** Lines of the result. */
  readonly printed: string[];
  /** Lines for the user. */
  readonly reported: string[];
}

/** More pauses than any command of a test needs: one that waits for what never comes must fail, and not spin for ever. */
const pausesAtMost = 300;

/** @param given what the command needs of a session; forwarding a port fails, and a pause lasts no time, unless given */
export function testSession(given: Pick<Session, 'client' | 'namespace'> & Partial<Session>): TestSession {
  const [printed, reported]: [string[], string[]] = [[], []];
  const { pause = () => Promise.resolve() } = given;
  let pauses = 0;
  const session: Session = {
    now: () => Date.now(),
    forward: () => Promise.reject(new Error('no port is forwarded')),
    terminal: {
      ...plainView,
      print: (line) => void printed.push(line),
      info: (line) => void reported.push(line),
      confirm: () => Promise.resolve(undefined),
    },
    ...given,
    pause: async (ms) => {
      pauses += 1;
      if (pauses > pausesAtMost) throw new Error(`waited ${pauses} times; said last: ${reported.at(-1) ?? 'nothing'}`);
      await pause(ms);
    },
  };
  return { session, printed, reported };
}
