/**
 * `npm run bench [-- --only NAME ...] [--json FILE] [--runs N] [--clusters N] [--optimize-for auto|size|speed] [--smoke]`: how fast a control plane becomes ready, relative to
 * the same pods without the operator, what it costs the management API, what users see of an upgrade, and how backups and etcd's maintenance compare with
 * etcd's own tools. Every ratio is of neighbours in one run on one machine. `--smoke` does as little as possible: it shows
 * that each part works, and its figures mean nothing.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { messageOf } from '../../../reconciler/kube/error-message.ts';
import { measureAudit } from './audit.ts';
import { measureBackups } from './backups.ts';
import { type BenchTestbed, clear, inBenchTestbed } from './bench-testbed.ts';
import { measureControlPlanes, measureRest } from './control-planes.ts';
import { type Extent, smokeExtent, wholeExtent } from './extent.ts';
import { measureFleet, measureFleetOutages, measureHostileServers } from './fleet/fleet.ts';
import { type Figure, line, seconds, unmeasured, withoutGoal } from './figure.ts';
import { type ProcessPart, processParts, type TestbedPart, testbedParts } from './parts.ts';
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

class Bench {
  readonly figures: Figure[] = [];
  readonly failures: string[] = [];
  readonly #report: Report = (text) => console.error(text);
  readonly #extent: Extent;

  constructor(extent: Extent) {
    this.#extent = extent;
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
    try {
      const figures = await part();
      this.figures.push(...figures);
      const missing = unmeasured(figures);
      if (missing.length > 0) throw new Error(`nothing was measured for ${missing.join('; ')}`);
      this.#report(`${seconds(performance.now() - start)} s  ${name}`);
      return true;
    } catch (error) {
      this.#report(`${seconds(performance.now() - start)} s  ${name} FAILED`);
      this.failures.push(`${name}: ${messageOf(error)}`);
      return false;
    }
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'string' },
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

  const extent = values.smoke
    ? smokeExtent
    : wholeExtent(Number(values.runs), {
        clusters: Number(values.clusters),
        optimizeFor: values['optimize-for'],
      });
  const bench = new Bench(extent);
  await bench.runProcesses(processParts.filter((name) => wanted.includes(name)));
  await bench.runInTestbed(testbedParts.filter((name) => wanted.includes(name)));
  const figures = values.smoke ? bench.figures.map(withoutGoal) : bench.figures;
  for (const figure of figures) console.log(line(figure));
  if (values.json) await writeFile(values.json, `${JSON.stringify(figures, undefined, 2)}\n`);
  if (bench.failures.length > 0) throw new Error(bench.failures.join('\n'));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
