/**
 * `npm run bench [-- --only NAME ...] [--keep] [--runs N] [--clusters N] [--optimize-for auto|size|speed] [--smoke]`: how fast a control plane becomes ready, relative to
 * the same pods without the operator, what it costs the management API, what users see of an upgrade, and how backups and etcd's maintenance compare with
 * etcd's own tools. Every ratio is of neighbours in one run on one machine. `--smoke` does as little as possible: it shows
 * that each part works, and its figures mean nothing.
 *
 * The result of each part is written to `build/bench`. A ratio that is worse by more than a fifth than in the last kept result of the same
 * kind of machine fails the run; `--keep` keeps the result of a part that has none, for `npm run docs`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../../reconciler/kube/error-message.ts';
import { busyCoreSeconds } from '../run/processor-time.ts';
import { buildDirectory } from '../testbed/operator-bundle.ts';
import { measureAudit } from './audit.ts';
import { measureBackups } from './backups.ts';
import { type BenchTestbed, clear, inBenchTestbed } from './bench-testbed.ts';
import { measureControlPlanes, measureRest } from './control-planes.ts';
import { type Extent, smokeExtent, wholeExtent } from './extent.ts';
import { measureFleet, measureFleetOutages, measureHostileServers } from './fleet/fleet.ts';
import { type Figure, line, seconds, unmeasured, withoutGoal } from './figure.ts';
import { keep, keptResults } from './kept-results.ts';
import { fleetParts, type ProcessPart, processParts, type TestbedPart, testbedParts } from './parts.ts';
import { comparable, regressions, type Result, rounded, thisCommit, thisMachine } from './result.ts';
import { measureStalls } from './stalls.ts';
import { measureUpgrade } from './upgrade.ts';
import { measureInClusterAccess, measureWorkers } from './workers.ts';

const inTestbed: Readonly<Record<TestbedPart, (testbed: BenchTestbed) => Promise<Figure[]>>> = {
  'control-planes': measureControlPlanes,
  workers: measureWorkers,
  'in-cluster-access': measureInClusterAccess,
  rest: measureRest,
  upgrade: measureUpgrade,
};

type Report = (line: string) => void;

const ofProcesses: Readonly<Record<ProcessPart, (extent: Extent, report: Report) => Promise<Figure[]>>> = {
  backups: measureBackups,
  stalls: measureStalls,
  audit: measureAudit,
  fleet: measureFleet,
  outages: measureFleetOutages,
  hostile: measureHostileServers,
};

interface BenchOptions {
  readonly isSmoke: boolean;
  readonly isKept: boolean;
  readonly runs: number;
  readonly fleet: Parameters<typeof wholeExtent>[1];
}

class Bench {
  readonly results: Result[] = [];
  readonly failures: string[] = [];
  readonly #report: Report = (text) => console.error(text);
  readonly #options: BenchOptions;
  readonly #extent: Extent;
  readonly #commit = thisCommit();

  constructor(options: BenchOptions) {
    this.#options = options;
    this.#extent = options.isSmoke ? smokeExtent : wholeExtent(options.runs, options.fleet);
  }

  async runProcesses(names: readonly ProcessPart[]): Promise<void> {
    for (const name of names) await this.#measure(name, () => ofProcesses[name](this.#extent, this.#report));
  }

  async runInTestbed(names: readonly TestbedPart[]): Promise<void> {
    if (names.length === 0) return;
    await inBenchTestbed(this.#extent, async (testbed) => {
      for (const name of names) {
        const isMeasured = await this.#measure(name, () => inTestbed[name](testbed));
        // control planes that are left would take processor time from the next part
        if (!isMeasured) await clear(testbed.instance);
      }
    });
  }

  /** Whether a part succeeded. One that failed does not discard the figures of the others. */
  async #measure(name: ProcessPart | TestbedPart, part: () => Promise<Figure[]>): Promise<boolean> {
    const start = performance.now();
    const busy = await busyCoreSeconds();
    try {
      const figures = await part();
      await this.#take(name, figures, (await busyCoreSeconds()) - busy);
      this.#report(`${seconds(performance.now() - start)} s  ${name}`);
      return true;
    } catch (error) {
      this.#report(`${seconds(performance.now() - start)} s  ${name} FAILED`);
      this.failures.push(`${name}: ${messageOf(error)}`);
      return false;
    }
  }

  /** Writes down what was measured. @throws if something was not, or is worse than before */
  async #take(part: ProcessPart | TestbedPart, measured: readonly Figure[], coreSeconds: number): Promise<void> {
    const { isSmoke, isKept, runs, fleet } = this.#options;
    const result = rounded({
      part,
      date: new Date().toISOString().slice(0, 10),
      ...(this.#commit === undefined ? {} : { commit: this.#commit }),
      machine: thisMachine(),
      coreSeconds,
      extent: fleetParts.includes(part) ? { ...fleet } : { runs },
      figures: isSmoke ? measured.map(withoutGoal) : measured,
    });
    this.results.push(result);
    const directory = join(buildDirectory, 'bench');
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `${part}.json`), `${JSON.stringify(result, undefined, 2)}\n`);
    const missing = unmeasured(measured);
    if (missing.length > 0) throw new Error(`nothing was measured for ${missing.join('; ')}`);
    if (isSmoke) return;
    const worse = regressions(comparable(keptResults(part), result), result);
    if (worse.length > 0) throw new Error(`worse by more than a fifth than what is kept: ${worse.join('; ')}`);
    if (isKept) keep(result);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      keep: { type: 'boolean', default: false },
      runs: { type: 'string', default: '3' },
      clusters: { type: 'string', default: '1000' },
      'optimize-for': { type: 'string', default: 'auto' },
      only: { type: 'string', multiple: true },
      smoke: { type: 'boolean', default: false },
    },
  });
  const known: readonly string[] = [...processParts, ...testbedParts];
  const wanted = values.only ?? known;
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`--only ${unknown.join(' ')}: there is only ${known.join(', ')}`);

  const bench = new Bench({
    isSmoke: values.smoke,
    isKept: values.keep,
    runs: Number(values.runs),
    fleet: { clusters: Number(values.clusters), optimizeFor: values['optimize-for'] },
  });
  await bench.runProcesses(processParts.filter((name) => wanted.includes(name)));
  await bench.runInTestbed(testbedParts.filter((name) => wanted.includes(name)));
  for (const { figures } of bench.results) for (const figure of figures) console.log(line(figure));
  if (bench.failures.length > 0) throw new Error(bench.failures.join('\n'));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
