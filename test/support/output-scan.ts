import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { privateKeyIn } from './private-keys.ts';

/** Where a secret was found. Never the secret itself. */
export interface Find {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** Shorter values would match by chance. */
const shortest = 12;
/** Longer lines are searched in overlapping pieces. */
const pieceLength = 200_000;
const overlap = 4_000;

/** Secrets that existed, to be searched for. They are kept in memory only. */
export class Needles {
  readonly #texts = new Map<string, string>();

  get size(): number {
    return this.#texts.size;
  }

  /** A secret value in every encoding in which it may appear: as it is, in base64 and in hexadecimal digits. */
  add(name: string, value: Buffer | string): void {
    const bytes = Buffer.from(value);
    if (bytes.length < shortest) return;
    const text = bytes.toString('utf8').trim();
    // a file of several lines appears in parts
    for (const part of text.includes('\n') ? secretParts(text) : [text]) this.#texts.set(part, name);
    for (const form of [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')]) {
      this.#texts.set(form.replace(/=+$/, ''), name);
    }
    const der = derOf(text);
    if (der)
      for (const form of ['base64', 'hex'] as const) this.#texts.set(der.toString(form).replace(/=+$/, ''), name);
  }

  /** The name of a secret that the text contains. */
  in(text: string): string | undefined {
    for (const [needle, name] of this.#texts) if (text.includes(needle)) return name;
    return undefined;
  }
}

/** Searches every file of a directory for private keys of any kind, and for secrets that existed. */
export async function scanDirectory(directory: string, needles = new Needles()): Promise<Find[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found: Find[] = [];
  for (const file of files.toSorted((a, b) => a.localeCompare(b, 'en'))) {
    found.push(...(await scanFile(file, relative(directory, file), needles)));
  }
  return found;
}

async function scanFile(path: string, file: string, needles: Needles): Promise<Find[]> {
  const found: Find[] = [];
  const seen = new Set<string>();
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path, 'latin1'), crlfDelay: Infinity })) {
    line += 1;
    // logs repeat themselves, and decoding base64 is slow
    const hash = createHash('sha1').update(withoutTime(text)).digest('base64');
    if (seen.has(hash)) continue;
    seen.add(hash);
    const what = secretIn(text, needles);
    if (what) found.push({ file, line, what });
  }
  return found;
}

/** The name of what a text contains that is secret. */
export function secretIn(text: string, needles: Needles): string | undefined {
  for (let start = 0; start === 0 || start < text.length; start += pieceLength - overlap) {
    const piece = text.slice(start, start + pieceLength);
    const name = needles.in(piece);
    if (name) return name;
    if (privateKeyIn(piece)) return 'a private key';
  }
  return undefined;
}

/** The text without timestamps, which differ in lines that are otherwise equal. */
function withoutTime(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\d[T ][\d:.,]+Z?/g, '');
}

/** What may be secret in a file of several lines: lines of a key, tokens, keys in YAML; not words, certificates and hashes. */
function secretParts(text: string): string[] {
  const runs = text.match(/(?<![A-Za-z0-9+/=_-]|sha256:)[A-Za-z0-9+/=_-]{24,}/g) ?? [];
  return runs.filter((run) => /\d/.test(run) && !Buffer.from(run, 'base64').includes('-----BEGIN CERTIFICATE'));
}

function derOf(text: string): Buffer | undefined {
  const body = /-----BEGIN [A-Z ]*PRIVATE KEY-----([^-]+)-----END/.exec(text)?.[1];
  return body === undefined ? undefined : Buffer.from(body, 'base64');
}
