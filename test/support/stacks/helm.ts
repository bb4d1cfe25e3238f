import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { StackFile } from '../../../constructs/helm/chart.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { findFurtherBinaries } from '../../tools/testbed/binaries.ts';
import { helm as helmFamily } from '../../tools/testbed/families.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { run } from '../../tools/testbed/run.ts';

/** A Helm chart in a directory of its own. */
export interface InstalledChart {
  /** The objects of a release with these values. @throws with Helm's message for values that it refuses */
  template(release: string, namespace: string, values: object): Promise<KubeObject[]>;
  /** What `helm lint --strict` says. @throws for an error or a warning */
  lint(values: object): Promise<string>;
  /** Removes the directory. */
  remove(): Promise<void>;
}

/** Writes the files of a chart for the real Helm, which is compiled at first. */
export async function chartOf(files: readonly StackFile[]): Promise<InstalledChart> {
  const { cache } = instanceFrom(process.env);
  const { helm = '' } = await findFurtherBinaries([helmFamily], cache, (line) => console.log(line));
  const directory = await mkdtemp(join(tmpdir(), 'chart-'));
  const chart = join(directory, 'chart');
  for (const { path, content } of files) {
    await mkdir(dirname(join(chart, path)), { recursive: true });
    await writeFile(join(chart, path), content);
  }
  const values = ['--values', '-'] as const;
  const input = (given: object) => ({ input: JSON.stringify(given), env: { ...process.env, HOME: directory } });
  return {
    template: async (release, namespace, given) => {
      const text = await run([helm, 'template', release, chart, '--namespace', namespace, ...values], input(given));
      return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
    },
    lint: (given) => run([helm, 'lint', '--strict', chart, ...values], input(given)),
    remove: () => rm(directory, { recursive: true }),
  };
}
