import { open } from 'node:fs/promises';

/** Changes one byte of every copy of a text in a file in place, as a bad disk would, also while a process has it open. */
export async function damageText(path: string, text: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const content = await file.readFile();
    let found = content.indexOf(text);
    if (found < 0) throw new Error(`${path} does not hold ${text}`);
    for (; found >= 0; found = content.indexOf(text, found + 1)) await file.write('#', found);
  } finally {
    await file.close();
  }
}
