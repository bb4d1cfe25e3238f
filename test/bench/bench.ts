/**
 * `npm run bench [-- --only NAME ...] [--json FILE] [--runs N] [--clusters N] [--optimize-for size|speed] [--smoke]`: how fast a control plane becomes ready, relative to
 * the same pods without the operator, what it costs the management API, what users see of an upgrade, and how backups and etcd's maintenance compare with
 * etcd's own tools. Every ratio is of neighbours in one run on one machine. `--smoke` does as little as possible of everything,
 * one part in the testbed beside one without: it shows that each part works, and its figures mean nothing.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { messageOf } from '../../reconciler/kube/error-message.ts';
import { measureAudit } from './audit.ts';
import { measureBackups } from './backups.ts';
import { type BenchTestbed, inBenchTestbed } from './bench-testbed.ts';
import { measureControlPlanes, measureRest } from './control-planes.ts';
import { type Extent, smokeExtent, wholeExtent } from './extent.ts';
import { measureFleet } from './fleet/fleet.ts';
import { type Figure, line, seconds, unmeasured, withoutGoal } from './figure.ts';
import { measureStalls } from './stalls.ts';
import { measureUpgrade } from './upgrade.ts';
import { measureInClusterAccess, measureWorkers } from './workers.ts';

const inTestbed: Readonly<Record<string, (testbed: BenchTestbed) => Promise<Figure[]>>> = {
  'control-planes': measureControlPlanes,
  workers: measureWorkers,
  'in-cluster-access': measureInClusterAccess,
  rest: measureRest,
  upgrade: measureUpgrade,
};

type Report = (line: string) => void;

/** Parts that need no testbed, only processes. */
const onHost: Readonly<Record<string, (extent: Extent, report: Report) => Promise<Figure[]>>> = {
  backups: measureBackups,
  stalls: measureStalls,
  audit: measureAudit,
  fleet: measureFleet,
};

/** One part of the bench, and its outcome. */
interface Part {
  readonly name: string;
  measure(): Promise<Figure[]>;
}

class Bench {
  readonly figures: Figure[] = [];
  readonly failures: string[] = [];
  readonly #report: Report = (text) => console.error(text);
  readonly #extent: Extent;

  constructor(extent: Extent) {
    this.#extent = extent;
  }

  async runOnHost(names: readonly string[]): Promise<void> {
    await this.#measure(partsOf(onHost, names, (measure) => measure(this.#extent, this.#report)));
  }

  async runInTestbed(names: readonly string[]): Promise<void> {
    const parts = (testbed: BenchTestbed) => partsOf(inTestbed, names, (measure) => measure(testbed));
    if (!names.some((name) => name in inTestbed)) return;
    await inBenchTestbed(this.#extent, (testbed) => this.#measure(parts(testbed)));
  }

  /** A failed part does not discard the figures of the others. */
  async #measure(parts: readonly Part[]): Promise<void> {
    for (const part of parts) {
      const { name } = part;
      const start = performance.now();
      try {
        const figures = await part.measure();
        this.figures.push(...figures);
        const missing = unmeasured(figures);
        if (missing.length > 0) throw new Error(`nothing was measured for ${missing.join('; ')}`);
        this.#report(`${seconds(performance.now() - start)} s  ${name}`);
      } catch (error) {
        this.#report(`${seconds(performance.now() - start)} s  ${name} FAILED`);
        this.failures.push(`${name}: ${messageOf(error)}`);
      }
    }
  }
}

function partsOf<Measure>(
  all: Readonly<Record<string, Measure>>,
  names: readonly string[],
  run: (measure: Measure) => Promise<Figure[]>,
): Part[] {
  return names.flatMap((name) => {
    const measure = all[name];
    return measure ? [{ name, measure: () => run(measure) }] : [];
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'string' },
      runs: { type: 'string', default: '3' },
      clusters: { type: 'string', default: '1000' },
      'optimize-for': { type: 'string', default: 'size' },
      only: { type: 'string', multiple: true },
      smoke: { type: 'boolean', default: false },
    },
  });
  const known = [...Object.keys(onHost), ...Object.keys(inTestbed)];
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
  if (values.smoke) await Promise.all([bench.runOnHost(wanted), bench.runInTestbed(wanted)]);
  else {
    await bench.runOnHost(wanted);
    await bench.runInTestbed(wanted);
  }
  const figures = values.smoke ? bench.figures.map(withoutGoal) : bench.figures;
  for (const figure of figures) console.log(line(figure));
  if (values.json) await writeFile(values.json, `${JSON.stringify(figures, undefined, 2)}\n`);
  if (bench.failures.length > 0) throw new Error(bench.failures.join('\n'));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
