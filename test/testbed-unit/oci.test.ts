import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { qualified, writeArchiveForAll, writeImageArchive, type Image } from '../tools/testbed/oci.ts';
import { run } from '../tools/testbed/run.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'oci-'));
  await writeFile(join(directory, 'program'), 'x'.repeat(3_000_000), { mode: 0o755 });
  await symlink('program', join(directory, 'alias'));
});

afterAll(() => rm(directory, { recursive: true }));

const Index = z.object({
  manifests: z.tuple([z.object({ digest: z.string(), annotations: z.record(z.string(), z.string()) })]),
});
const Blob = z.object({ digest: z.string(), size: z.number() });
const Manifest = z.object({ config: Blob, layers: z.tuple([Blob]) });
const ForAll = z.object({
  manifests: z.array(z.object({ digest: z.string(), platform: z.object({ architecture: z.string() }) })),
});
const Config = z.object({
  config: z.record(z.string(), z.unknown()),
  rootfs: z.object({ diff_ids: z.array(z.string()) }),
});

function image(): Image {
  return {
    reference: 'registry.example:5000/team/app:v1.2.3',
    config: { Entrypoint: ['/bin/program'], User: '65532' },
    entries: [
      { kind: 'link', path: '/usr/bin/program', target: '../../bin/program' },
      { kind: 'file', path: '/bin/program', source: join(directory, 'program') },
      { kind: 'text', path: '/etc/os-release', text: 'ID=test\n' },
      { kind: 'directory', path: '/tmp', mode: 0o1777 },
    ],
  };
}

async function unpacked(name: string): Promise<string> {
  const target = join(directory, `${name}.unpacked`);
  await run(['mkdir', '-p', target]);
  await run(['tar', '--extract', '--file', join(directory, name), '--directory', target]);
  return target;
}

async function blob(root: string, digest: string): Promise<Buffer> {
  return readFile(join(root, 'blobs', digest.replace(':', '/')));
}

async function json<T>(schema: z.ZodType<T>, content: Buffer): Promise<T> {
  return schema.parseAsync(JSON.parse(content.toString()));
}

test('an archive for several processors has an image for each below one digest', async () => {
  const { reference, ...content } = image();
  const other = { ...content, entries: [{ kind: 'text', path: '/for', text: 'arm64' }] as const };
  const digest = await writeArchiveForAll(join(directory, 'all.tar'), {
    reference,
    content: { amd64: content, arm64: other },
  });
  const root = await unpacked('all.tar');
  const [listed] = (await json(Index, await readFile(join(root, 'index.json')))).manifests;
  expect(listed).toMatchObject({ digest, annotations: { 'io.containerd.image.name': reference } });
  const { manifests } = await json(ForAll, await blob(root, digest));
  expect(manifests.map(({ platform }) => platform.architecture)).toEqual(['amd64', 'arm64']);
  const layers = await Promise.all(
    manifests.map(async (each) => (await json(Manifest, await blob(root, each.digest))).layers[0].digest),
  );
  expect(new Set(layers).size).toBe(2);
});

test('the same image has the same bytes, independent of file times and the order of entries', async () => {
  const one = await writeImageArchive(join(directory, 'one.tar'), image());
  await utimes(join(directory, 'program'), 1, 1);
  const other = await writeImageArchive(join(directory, 'other.tar'), {
    ...image(),
    entries: image().entries.toReversed(),
  });
  expect(other).toBe(one);
  expect(await readFile(join(directory, 'other.tar'))).toEqual(await readFile(join(directory, 'one.tar')));
});

test('every digest and size in the archive matches its content', async () => {
  const digest = await writeImageArchive(join(directory, 'digests.tar'), image());
  const root = await unpacked('digests.tar');
  const { manifests } = await json(Index, await readFile(join(root, 'index.json')));
  expect(manifests[0].digest).toBe(digest);
  const manifest = await json(Manifest, await blob(root, digest));
  for (const { digest: expected, size } of [manifest.config, ...manifest.layers]) {
    const content = await blob(root, expected);
    expect(`sha256:${createHash('sha256').update(content).digest('hex')}`).toBe(expected);
    expect(content.length).toBe(size);
  }
  const config = await json(Config, await blob(root, manifest.config.digest));
  expect(config.rootfs.diff_ids).toEqual([manifest.layers[0].digest]);
});

test('the archive names the image as containerd and other engines expect', async () => {
  await writeImageArchive(join(directory, 'name.tar'), image());
  const { manifests } = await json(Index, await readFile(join(await unpacked('name.tar'), 'index.json')));
  expect(manifests[0].annotations).toEqual({
    'io.containerd.image.name': 'registry.example:5000/team/app:v1.2.3',
    'org.opencontainers.image.ref.name': 'v1.2.3',
  });
});

test('the layer contains files with their modes, links, texts and the parent directories', async () => {
  const digest = await writeImageArchive(join(directory, 'layer.tar'), image());
  const root = await unpacked('layer.tar');
  const manifest = await json(Manifest, await blob(root, digest));
  const layer = join(root, 'blobs', manifest.layers[0].digest.replace(':', '/'));
  const listing = await run(['tar', '--list', '--verbose', '--numeric-owner', '--utc', '--file', layer]);
  expect(
    listing
      .trim()
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' ')),
  ).toMatchInlineSnapshot(`
    [
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 bin/",
      "-rwxr-xr-x 0/0 3000000 1970-01-01 00:00 bin/program",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 etc/",
      "-rw-r--r-- 0/0 8 1970-01-01 00:00 etc/os-release",
      "drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/bin/",
      "lrwxrwxrwx 0/0 0 1970-01-01 00:00 usr/bin/program -> ../../bin/program",
    ]
  `);
});

test('the target of a link is packed, not the link', async () => {
  const entries = [{ kind: 'file', path: '/program', source: join(directory, 'alias') } as const];
  const digest = await writeImageArchive(join(directory, 'alias.tar'), { ...image(), entries });
  const manifest = await json(Manifest, await blob(await unpacked('alias.tar'), digest));
  expect(manifest.layers[0].size).toBeGreaterThan(3_000_000);
});

test('two entries for one path are refused', async () => {
  const entries = [...image().entries, { kind: 'text', path: 'etc/os-release', text: '' } as const];
  await expect(writeImageArchive(join(directory, 'twice.tar'), { ...image(), entries })).rejects.toThrow(
    'two entries for /etc/os-release',
  );
});

test.for([
  ['registry.example/app:v1', 'registry.example/app:v1'],
  ['registry:5000/app:v1', 'registry:5000/app:v1'],
  ['localhost/app:v1', 'localhost/app:v1'],
  ['team/app:v1', 'docker.io/team/app:v1'],
  ['app:v1', 'docker.io/library/app:v1'],
])('%s is the image %s', ([reference, whole]) => {
  expect(qualified(reference ?? '')).toBe(whole);
});
