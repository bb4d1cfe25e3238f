import { createInterface } from 'node:readline/promises';
import { paintFor, type View, widthFor } from './view.ts';

/** Input and output of a command, with the view of its results. */
export interface Terminal extends View {
  /** Prints a line of the result, which programs may read. */
  print(line: string): void;
  /** Prints a line for the user: progress and warnings. */
  info(line: string): void;
  /** Asks for confirmation; undefined without an interactive terminal. */
  confirm(question: string): Promise<boolean | undefined>;
}

/** The terminal of this process. Results go to standard output, all other lines to standard error. */
export const processTerminal: Terminal = {
  // asked for each time, because a window changes its size while a command watches
  get width() {
    return widthFor(process.stdout);
  },
  paint: paintFor(process.stdout),
  print: (line) => void process.stdout.write(`${line}\n`),
  info: (line) => void process.stderr.write(`${line}\n`),
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
