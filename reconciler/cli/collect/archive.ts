import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compressed = promisify(gzip);

/** Writes texts by their paths into one compressed archive, which only its owner may read, below a folder of this name. */
export async function writeArchive(file: string, folder: string, texts: ReadonlyMap<string, string>): Promise<void> {
  const entries = [...texts].flatMap(([path, text]) => {
    const content = Buffer.from(text);
    const { length: sizeBytes } = content;
    const header = tarHeader({ type: 'file', path: `${folder}/${path}`, mode: 0o600, sizeBytes });
    return [header, content, tarPadding(sizeBytes)];
  });
  await writeFile(file, await compressed(Buffer.concat([...entries, tarEnd])), { mode: 0o600 });
}

/** Everything in a tar archive is padded to blocks of this many bytes. */
export const tarBlock = 512;

/** One entry of a tar archive: owned by root, dated 1970, so that equal content has equal bytes. */
export interface TarEntry {
  readonly type: 'file' | 'link' | 'directory';
  /** Path without a leading slash. */
  readonly path: string;
  readonly mode: number;
  readonly sizeBytes?: number;
  /** Target of a link. */
  readonly target?: string;
}

const typeFlags = { file: '0', link: '2', directory: '5' } as const;

/** The ustar header of an entry. Throws for a path that ustar cannot hold. */
export function tarHeader(entry: TarEntry): Buffer {
  const path = entry.type === 'directory' ? `${entry.path}/` : entry.path;
  const { prefix, name } = splitPath(path);
  const header = Buffer.alloc(tarBlock);
  header.write(name, 0);
  header.write(octal(entry.mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(entry.sizeBytes ?? 0, 11), 124);
  header.write(octal(0, 11), 136);
  header.write(' '.repeat(8), 148);
  header.write(typeFlags[entry.type], 156);
  header.write(entry.target ?? '', 157);
  header.write('ustar\u000000', 257);
  header.write(prefix, 345);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${octal(checksum, 6)}\0 `, 148);
  return header;
}

/** Zeros that fill the last block of a file of this size. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((tarBlock - (sizeBytes % tarBlock)) % tarBlock);
}

/** The end of every tar archive. */
export const tarEnd = Buffer.alloc(2 * tarBlock);

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** ustar has 100 bytes for a name and 155 for the directories before it. */
function splitPath(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path };
  const slash = path.lastIndexOf('/', path.length - 2);
  const split = { prefix: path.slice(0, slash), name: path.slice(slash + 1) };
  if (slash < 0 || Buffer.byteLength(split.prefix) > 155 || Buffer.byteLength(split.name) > 100) {
    throw new Error(`the path ${path} is too long for a tar archive`);
  }
  return split;
}
