import { createHash } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { renderControlPlane, type RenderedObject } from '../../constructs/control-plane/chart.ts';
import { supportedMinors } from '../../constructs/cluster/minors.ts';
import { newestRevision, releaseOf } from '../../constructs/cluster/release-revisions.ts';
import { minorOf } from '../../constructs/cluster/versions.ts';
import { readSample } from '../../constructs/sample.ts';
import { readSampleFiles } from '../../constructs/sample-files.ts';
import { renderWorkload } from '../../constructs/workload/chart.ts';

const folder = join(import.meta.dirname, 'release-revisions');
const released = parsedChecksums(await readFile(join(folder, 'released.sha256'), 'utf8'));
const revisions = Array.from({ length: newestRevision }, (_, index) => index + 1);

/** Said by every failure here. */
const instead =
  'control planes in the field are rendered by this release revision, and its files never change: undo what changes it, or make it a part of a new release revision, as test/RELEASE-REVISIONS.md says';

/** Whether the files of a revision, with the clusters of its time, are in the list. */
function isReleased(revision: number): boolean {
  return [...released.keys()].some((file) => file.startsWith(`${revision}/`));
}

/** Digests by file. @param text as `sha256sum` prints it */
function parsedChecksums(text: string): Map<string, string> {
  const lines = text.trim().split('\n');
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

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

const asFile = (content: object) => `${JSON.stringify(content, undefined, 2)}\n`;

describe.each(revisions)('release revision %i', (revision) => {
  // An operator upgrade would restart these pods in every live control plane.
  it('renders the pod templates that it has always rendered', async () => {
    const samples = await readSampleFiles(isReleased(revision) ? join(folder, `${revision}`, 'clusters') : undefined);
    const hashes = samples.map(({ name, content }) => [name, Object.fromEntries(templates(content, revision))]);
    const file = join(folder, `${revision}`, 'pod-templates.json');
    await expect(asFile(Object.fromEntries(hashes)), `pods restart: ${instead}`).toMatchFileSnapshot(file);
  });

  // Control planes record their images, and adopt others only with a newer release revision: one that changes without it
  // would reach new control planes alone.
  it('gives each minor the images that it has always given it', async () => {
    const images = supportedMinors.map((minor) => [minor, releaseOf(minor, revision).images] as const);
    const file = join(folder, `${revision}`, 'images.json');
    await expect(asFile(Object.fromEntries(images)), `other images: ${instead}`).toMatchFileSnapshot(file);
  });
});

it.each(revisions.filter((revision) => revision < newestRevision))(
  'release revision %i is in released.sha256',
  (revision) => {
    expect(isReleased(revision)).toBe(true);
  },
);

it('no file of a released revision has changed, come or gone', async () => {
  const found: [string, string][] = [];
  for await (const file of glob('*/**/*.*', { cwd: folder })) {
    const content = await readFile(join(folder, file));
    if (isReleased(Number.parseInt(file))) found.push([file, createHash('sha256').update(content).digest('hex')]);
  }
  expect(Object.fromEntries(found), `other files: ${instead}`).toEqual(Object.fromEntries(released));
});
