import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { tarEnd, tarHeader, tarPadding } from './tar-header.ts';

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
