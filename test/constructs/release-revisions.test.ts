import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { renderControlPlane, type RenderedObject } from '../../constructs/control-plane/chart.ts';
import { minors } from '../../constructs/cluster/minors.ts';
import { newestRevision, releaseOf } from '../../constructs/cluster/release-revisions.ts';
import { minorOf } from '../../constructs/cluster/versions.ts';
import { readSample } from '../../constructs/sample.ts';
import { readSampleFiles } from '../../constructs/sample-files.ts';
import { renderWorkload } from '../../constructs/workload/chart.ts';

const samples = await readSampleFiles();
const revisions = Array.from({ length: newestRevision }, (_, index) => index + 1);

/** A hash of each pod template of a sample, by the object that has it. */
function templates(content: string, revision: number): [string, string][] {
  const sample = readSample(parseAllDocuments(content).map((document): unknown => document.toJS()));
  const cluster = { ...sample.cluster, release: releaseOf(minorOf(sample.cluster.spec.version), revision) };
  const objects = [...renderControlPlane(cluster, sample.facts), ...renderWorkload(cluster, sample.facts)];
  return objects.flatMap((object) => {
    const template = (object as RenderedObject & { spec?: { template?: unknown } }).spec?.template;
    const hash = createHash('sha256').update(JSON.stringify(template) ?? '');
    return template === undefined ? [] : [[`${object.kind} ${object.metadata.name}`, hash.digest('hex').slice(0, 16)]];
  });
}

describe.each(revisions)('release revision %i', (revision) => {
  // An operator upgrade would restart these pods in every live control plane. If the change is wanted, make it in a new release
  // revision (constructs/cluster/release-revisions.ts); the file of one that was released never changes.
  it('renders the pod templates that it has always rendered', async () => {
    const rendered = Object.fromEntries(
      samples.map(({ name, content }) => [name, Object.fromEntries(templates(content, revision))]),
    );
    const file = join(import.meta.dirname, 'release-revisions', `${revision}.json`);
    await expect(`${JSON.stringify(rendered, undefined, 2)}\n`).toMatchFileSnapshot(file);
  });
});

// Control planes of the first release revision have no record of their images.
it.each([1, newestRevision])(
  'gives each minor the images that release revision %i has always given it',
  async (revision) => {
    const images = Object.keys(minors).map((minor) => [minor, releaseOf(Number(minor), revision).images] as const);
    const file = join(import.meta.dirname, 'release-revisions', `images-${revision}.json`);
    await expect(`${JSON.stringify(Object.fromEntries(images), undefined, 2)}\n`).toMatchFileSnapshot(file);
  },
);
