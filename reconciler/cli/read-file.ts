import { readFileSync } from 'node:fs';
import { messageOf } from '../kube/error-message.ts';

/** The content of a file, or of standard input for `-`. @throws with the name of the file */
export function readFile(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (cause) {
    throw new Error(`${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
