import type { Session } from '../../reconciler/cli/command.ts';

/** A session of `hcp` without a terminal, and what it prints. */
export interface TestSession {
  readonly session: Session;
  /** Lines of the result. */
  readonly printed: string[];
  /** Lines for the user. */
  readonly reported: string[];
}

/** @param given what the command needs of a session; forwarding a port fails, and a pause lasts no time, unless given */
export function testSession(given: Pick<Session, 'client' | 'namespace'> & Partial<Session>): TestSession {
  const [printed, reported]: [string[], string[]] = [[], []];
  const session: Session = {
    now: () => Date.now(),
    pause: () => Promise.resolve(),
    forward: () => Promise.reject(new Error('no port is forwarded')),
    terminal: {
      print: (line) => void printed.push(line),
      tell: (line) => void reported.push(line),
      confirm: () => Promise.resolve(undefined),
    },
    ...given,
  };
  return { session, printed, reported };
}
