import { relative } from 'node:path';
import { OutputCollector } from '../../support/output-collector.ts';
import { Needles, scanDirectory } from '../../support/output-scan.ts';
import { output } from './output.ts';
import { withOwn } from './testbeds.ts';

/** Keeps what the testbeds of a run report, from now on, and searches that and all its other output for secrets at the end. */
export class SecretSearch {
  /** The secrets that exist meanwhile. */
  readonly needles = new Needles();
  readonly #directory: string;
  readonly #collectors: readonly OutputCollector[];

  /**
   * @param directory of the output
   * @param testbeds that files run on; those that they bring up for themselves are searched, too
   */
  constructor(directory: string, testbeds: readonly string[]) {
    this.#directory = directory;
    const place = { directory, needles: this.needles };
    this.#collectors = testbeds.flatMap(withOwn).map((testbed) => new OutputCollector(testbed, place));
  }

  /** Prints where a secret was found. Returns why the run is red, if it is. */
  async end(): Promise<readonly string[]> {
    await Promise.all(this.#collectors.map((collector) => collector.stop()));
    const found = await scanDirectory(this.#directory, this.needles);
    console.log(
      `all output searched for ${this.needles.size} forms of secrets, and for private keys: ${found.length} found`,
    );
    const shown = ['.test-output', relative(output, this.#directory)].filter(Boolean).join('/');
    for (const { file, line, what } of found) console.error(`${shown}/${file}:${line} contains ${what}`);
    return found.length > 0 ? ['the output contains secrets'] : [];
  }
}
