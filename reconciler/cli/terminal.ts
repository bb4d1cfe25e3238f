import { createInterface } from 'node:readline/promises';

/** Where a command writes and asks. */
export interface Terminal {
  /** A line of what was asked for: the part that others may read by program. */
  print(line: string): void;
  /** A line for whoever waits: progress and warnings. */
  tell(line: string): void;
  /** Asks for yes or no; undefined when nobody is there to answer. */
  confirm(question: string): Promise<boolean | undefined>;
}

/** The terminal of this process: results go to the standard output, all else to the error output. */
export const processTerminal: Terminal = {
  print: (line) => void process.stdout.write(`${line}\n`),
  tell: (line) => void process.stderr.write(`${line}\n`),
  async confirm(question) {
    if (!process.stdin.isTTY) return undefined;
    const prompt = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `)).trim());
    } finally {
      prompt.close();
    }
  },
};
