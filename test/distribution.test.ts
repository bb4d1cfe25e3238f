import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { renderDistribution, renderInstallation } from '../constructs/distribution.ts';
import { supportedMinors } from '../constructs/cluster/minors.ts';
import { managerImage } from '../constructs/provider/image.ts';
import { readSampleFiles } from '../constructs/sample-files.ts';

const dist = join(import.meta.dirname, '../dist');
const files = renderDistribution(await readSampleFiles());
/** What a release has besides, or with more in it. */
const released = renderInstallation(managerImage, 'users').filter(
  ({ path, content }) => files.find((file) => file.path === path)?.content !== content,
);

/** A header that says what the file is and what writes it, also below a branch of a chart's template. */
const isAnnounced = /^(\{\{-.*\n)?# .+\n(# .+\n)*# Written by `npm run synth`/;

describe('dist', () => {
  it.each(files.map(({ path, content }) => [path, content]))(
    'contains %s as the constructs render it',
    async (path, content) => {
      await expect(content).toMatchFileSnapshot(join(dist, path));
    },
  );

  it('contains nothing else', async () => {
    const entries = await readdir(dist, { recursive: true, withFileTypes: true });
    const present = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(present.sort()).toEqual(files.map(({ path }) => join(dist, path)).sort());
  });

  it.each([...files, ...released].map(({ path, content }) => [path, content]))(
    'has %s without YAML features that are hard to read',
    (path, content) => {
      // Templates of charts become YAML when Helm renders them, and .helmignore has patterns.
      const documents = /\/templates\/|\.helmignore$/.test(path) ? [] : parseAllDocuments(content);
      expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
      // An anchor would refer to a part elsewhere in the file.
      expect(content).not.toMatch(/[:-] [&*]a\d/);
      // JSON has no comments.
      expect(path.endsWith('.json') || isAnnounced.test(content)).toBe(true);
      expect(content.endsWith('\n')).toBe(true);
    },
  );
});

interface Labelled {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/** The objects of a file of an installation. */
const objectsOf = (all: typeof files, path: string): Labelled[] =>
  parseAllDocuments(all.find((file) => file.path === path)?.content ?? '').map((one) => one.toJS() as Labelled);
const isDefinition = ({ kind }: Labelled): boolean => kind === 'CustomResourceDefinition';

describe('the definitions of kinds', () => {
  const components = objectsOf(files, 'control-plane-components.yaml');
  const definitions = components.filter(isDefinition);

  it('are in one file of dist', () => {
    expect(definitions).toHaveLength(3);
    const having = files.filter(({ content }) => /^kind: CustomResourceDefinition$/m.test(content));
    expect(having.map(({ path }) => path)).toEqual(['control-plane-components.yaml']);
  });

  it('are what kubectl applies of it with the selector that the page names', () => {
    const selected = components.filter(({ metadata }) => 'clusterctl.cluster.x-k8s.io' in (metadata.labels ?? {}));
    expect(selected).toEqual(definitions);
  });

  it('make the installation for one namespace of dist that of a release', () => {
    const [reviewed, whole] = [files, released].map((all) => objectsOf(all, 'one-namespace.yaml'));
    expect(whole?.filter(isDefinition)).toEqual(definitions);
    expect(whole?.filter((object) => !isDefinition(object))).toEqual(reviewed);
  });
});

describe('the stacks for OpenStack', () => {
  /** Names of the folders of stacks, by the files that csctl reads. */
  const stacksOf = (all: typeof files): string[] =>
    all.flatMap(({ path }) => /^stacks\/providers\/openstack\/(.+)\/csctl\.yaml$/.exec(path)?.[1] ?? []).sort();

  it('are those of the newest minor in dist', () => {
    const newest = Math.max(...supportedMinors);
    expect(stacksOf(files)).toEqual([`hosted-control-plane-v1beta2/1-${newest}`, `hosted-control-plane/1-${newest}`]);
  });

  it('are those of all minors in a release', () => {
    expect(stacksOf([...files, ...released])).toEqual(
      ['hosted-control-plane-v1beta2', 'hosted-control-plane'].flatMap((stack) =>
        supportedMinors.map((minor) => `${stack}/1-${minor}`),
      ),
    );
  });
});
