/**
 * `npm run bench [-- --only NAME ...] [--json FILE] [--runs N]`: how fast a control plane comes up, relative to the same
 * pods without us, what it costs the management API, and how backups and etcd's upkeep compare with etcd's own tools.
 * Every ratio is of neighbours in one run on one machine.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { measureBackups } from './backups.ts';
import { type BenchTestbed, inBenchTestbed } from './bench-testbed.ts';
import { measureControlPlanes, measureRest } from './control-planes.ts';
import { type Figure, line } from './figure.ts';
import { measureStalls } from './stalls.ts';
import { measureInClusterAccess, measureWorkers } from './workers.ts';

const inTestbed = {
  'control-planes': measureControlPlanes,
  workers: measureWorkers,
  'in-cluster-access': measureInClusterAccess,
  rest: measureRest,
} satisfies Record<string, (testbed: BenchTestbed) => Promise<Figure[]>>;

type Report = (line: string) => void;

/** What needs nothing but processes of etcd and an S3 store. */
const onHost = {
  backups: measureBackups,
  stalls: (_, report) => measureStalls(report),
} satisfies Record<string, (runs: number, report: Report) => Promise<Figure[]>>;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'string' },
      runs: { type: 'string', default: '3' },
      only: { type: 'string', multiple: true },
    },
  });
  const known = [...Object.keys(inTestbed), ...Object.keys(onHost)];
  const wanted = values.only ?? known;
  const unknown = wanted.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`--only ${unknown.join(' ')}: there is only ${known.join(', ')}`);

  const runs = Number(values.runs);
  const chosen = <T>(of: Record<string, T>): T[] => wanted.flatMap((name) => of[name] ?? []);
  const figures: Figure[] = [];
  for (const measure of chosen(onHost)) figures.push(...(await measure(runs, (text) => console.error(text))));
  const measurements = chosen(inTestbed);
  if (measurements.length > 0) {
    await inBenchTestbed(runs, async (testbed) => {
      for (const measure of measurements) figures.push(...(await measure(testbed)));
    });
  }
  for (const figure of figures) console.log(line(figure));
  if (values.json) await writeFile(values.json, `${JSON.stringify(figures, undefined, 2)}\n`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
