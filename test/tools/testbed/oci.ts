import { createHash, type Hash } from 'node:crypto';
import { open, rename, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type TarEntry, tarBlock, tarEnd, tarHeader, tarPadding } from '../../../reconciler/cli/collect/archive.ts';

/** An entry of an image, by its absolute path. The default mode is the source's own (755 for directories, 644 for text). */
export type ImageEntry =
  | { readonly kind: 'file'; readonly path: string; readonly source: string; readonly mode?: number }
  | { readonly kind: 'text'; readonly path: string; readonly text: string; readonly mode?: number }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'directory'; readonly path: string; readonly mode?: number };

/** The part of an OCI image configuration that containers use. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  /** Default: a search path over the usual bin and sbin directories. */
  readonly Env?: readonly string[];
  readonly User?: string;
  /** Default: `/`. */
  readonly WorkingDir?: string;
  /** The stop signal. Default: SIGTERM. */
  readonly StopSignal?: string;
}

/** What an image is made of: one layer. */
export interface ImageContent {
  readonly config: ImageConfig;
  readonly entries: readonly ImageEntry[];
}

/** An image for the processors of this machine. */
export interface Image extends ImageContent {
  /** The name after its import, with a tag: `registry.example/app:v1`. */
  readonly reference: string;
}

/** Names of processors, as Go and OCI spell them. */
export const architectures = ['amd64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

/** The same program for several processors, of which container engines take their own. */
export interface ImageForAll {
  readonly reference: string;
  readonly content: Readonly<Record<Architecture, ImageContent>>;
}

/** The search path of programs in an image, unless its configuration overrides it. */
export const searchPath = 'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const mediaType = {
  config: 'application/vnd.oci.image.config.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  // not compressed: packing takes no processor time and the layer's digest is that of its content
  layer: 'application/vnd.oci.image.layer.v1.tar',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
} as const;

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * Writes an image as an OCI archive that container engines import. The same image has the same bytes: they do not depend on
 * the clock, the user or the order of a directory. Files are streamed, the archive appears under its name when complete.
 * Returns the digest of the manifest.
 */
export function writeImageArchive(path: string, { reference, ...content }: Image): Promise<string> {
  const ours = process.arch === 'x64' ? 'amd64' : process.arch;
  return write(path, reference, (archive) => addImage(archive, ours, content));
}

/** The same for several processors. Returns the digest of the index, by which registries know all of them. */
export function writeArchiveForAll(path: string, { reference, content }: ImageForAll): Promise<string> {
  return write(path, reference, async (archive) => {
    const manifests: object[] = [];
    for (const architecture of architectures) {
      const image = await addImage(archive, architecture, content[architecture]);
      manifests.push({ ...image, platform: { architecture, os: 'linux' } });
    }
    return addBlob(archive, mediaType.index, { schemaVersion: 2, mediaType: mediaType.index, manifests });
  });
}

/** @param add writes the blobs, and returns the one that an engine imports */
async function write(path: string, reference: string, add: (archive: Appender) => Promise<Blob>): Promise<string> {
  const partial = `${path}.partial`;
  const file = await open(partial, 'w');
  try {
    const digest = await writeArchive(file, reference, add);
    await file.close();
    await rename(partial, path);
    return digest;
  } finally {
    await file.close().catch(() => {});
  }
}

async function writeArchive(
  file: FileHandle,
  reference: string,
  add: (archive: Appender) => Promise<Blob>,
): Promise<string> {
  const archive = new Appender(file);
  for (const path of ['blobs', 'blobs/sha256']) await archive.add({ type: 'directory', path, mode: 0o755 });
  await addJson(archive, 'oci-layout', { imageLayoutVersion: '1.0.0' });
  const blob = await add(archive);
  const annotations = {
    'io.containerd.image.name': qualified(reference),
    'org.opencontainers.image.ref.name': reference.slice(reference.lastIndexOf(':') + 1),
  };
  const manifests = [{ ...blob, annotations }];
  await addJson(archive, 'index.json', { schemaVersion: 2, mediaType: mediaType.index, manifests });
  await archive.write(tarEnd);
  return blob.digest;
}

async function addImage(archive: Appender, architecture: string, { config, entries }: ImageContent): Promise<Blob> {
  const layer = await addLayer(archive, entries);
  const configuration = await addBlob(archive, mediaType.config, {
    architecture,
    os: 'linux',
    config: { Env: [searchPath], WorkingDir: '/', ...config },
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  });
  return addBlob(archive, mediaType.manifest, {
    schemaVersion: 2,
    mediaType: mediaType.manifest,
    config: configuration,
    layers: [layer],
  });
}

/** The full name of an image: the kubelet asks containerd for `docker.io/app/x` if a pod has `app/x`. */
export function qualified(reference: string): string {
  const parts = reference.split('/');
  const [first = ''] = parts;
  if (parts.length > 1 && (/[.:]/.test(first) || first === 'localhost')) return reference;
  return parts.length > 1 ? `docker.io/${reference}` : `docker.io/library/${reference}`;
}

/** The layer's name in the archive is its digest, known only at the end: its header is written last, in the gap left for it. */
async function addLayer(archive: Appender, entries: readonly ImageEntry[]): Promise<Blob> {
  const gap = archive.position;
  archive.position += tarBlock;
  const start = archive.position;
  const hash = createHash('sha256');
  const layer = new Appender(archive.file, start, hash);
  await addEntries(layer, entries);
  await layer.write(tarEnd);
  const size = layer.position - start;
  const digest = `sha256:${hash.digest('hex')}`;
  await new Appender(archive.file, gap).write(tarHeader(blobEntry(digest, size)));
  archive.position = layer.position;
  await archive.write(tarPadding(size));
  return { mediaType: mediaType.layer, digest, size };
}

/** Entries in the order of their paths, each after its parent directories. */
async function addEntries(layer: Appender, entries: readonly ImageEntry[]): Promise<void> {
  const sorted = entries.map((entry) => ({ ...entry, path: entry.path.replace(/^\//, '') }));
  sorted.sort((a, b) => (a.path < b.path ? -1 : 1));
  const written = new Set<string>();
  for (const entry of sorted) {
    for (const path of parents(entry.path)) {
      if (written.has(path)) continue;
      written.add(path);
      await layer.add({ type: 'directory', path, mode: 0o755 });
    }
    if (written.has(entry.path)) throw new Error(`the image has two entries for /${entry.path}`);
    written.add(entry.path);
    await addEntry(layer, entry);
  }
}

async function addEntry(layer: Appender, entry: ImageEntry): Promise<void> {
  const { path } = entry;
  switch (entry.kind) {
    case 'directory':
      return layer.add({ type: 'directory', path, mode: entry.mode ?? 0o755 });
    case 'link':
      return layer.add({ type: 'link', path, mode: 0o777, target: entry.target });
    case 'text':
      return layer.addContent({ type: 'file', path, mode: entry.mode ?? 0o644 }, Buffer.from(entry.text));
    case 'file': {
      const { mode, size } = await stat(entry.source);
      return layer.addStream({ type: 'file', path, mode: entry.mode ?? mode & 0o777, sizeBytes: size }, entry.source);
    }
  }
}

function parents(path: string): string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [...parents(parent), parent];
}

async function addJson(archive: Appender, path: string, value: unknown): Promise<void> {
  await archive.addContent({ type: 'file', path, mode: 0o644 }, Buffer.from(JSON.stringify(value)));
}

async function addBlob(archive: Appender, mediaType: string, value: unknown): Promise<Blob> {
  const content = Buffer.from(JSON.stringify(value));
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  await archive.addContent(blobEntry(digest, content.length), content);
  return { mediaType, digest, size: content.length };
}

function blobEntry(digest: string, sizeBytes: number): TarEntry & { sizeBytes: number } {
  return { type: 'file', path: `blobs/${digest.replace(':', '/')}`, mode: 0o644, sizeBytes };
}

/** Writes tar entries one after the other, and into a hash if there is one. */
class Appender {
  readonly file: FileHandle;
  position: number;
  private readonly hash: Hash | undefined;

  constructor(file: FileHandle, position = 0, hash?: Hash) {
    this.file = file;
    this.position = position;
    this.hash = hash;
  }

  async write(content: Buffer): Promise<void> {
    this.hash?.update(content);
    await this.file.write(content, 0, content.length, this.position);
    this.position += content.length;
  }

  async add(entry: TarEntry): Promise<void> {
    await this.write(tarHeader(entry));
  }

  async addContent(entry: TarEntry, content: Buffer): Promise<void> {
    await this.add({ ...entry, sizeBytes: content.length });
    await this.write(content);
    await this.write(tarPadding(content.length));
  }

  async addStream(entry: TarEntry & { sizeBytes: number }, source: string): Promise<void> {
    await this.add(entry);
    const end = this.position + entry.sizeBytes;
    const file = await open(source);
    try {
      const buffer = Buffer.alloc(1 << 20);
      for (let read = await file.read(buffer); read.bytesRead > 0; read = await file.read(buffer)) {
        await this.write(buffer.subarray(0, read.bytesRead));
      }
    } finally {
      await file.close();
    }
    if (this.position !== end) throw new Error(`${source} changed its size while it was packed`);
    await this.write(tarPadding(entry.sizeBytes));
  }
}
