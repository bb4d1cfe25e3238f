import {
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Conducts, InHand } from './judge.ts';

/** What the operator has in hand, and what is known of earlier ends, where it outlives the process. */
export interface Notes {
  /** Notes that the process begins to work on a control plane. @returns notes that it has ended */
  take(key: string, isTask?: boolean): () => void;
  /** Notes that the process reads something that belongs to a control plane. */
  touch(key: string): void;
  /** Keeps what is known. */
  keep(conducts: Conducts): void;
  /** The process ends as it should: what is in hand from now on does not count. */
  close(): void;
}

/** What an earlier process has left. */
export interface Left {
  /** Undefined when none has, or when it ended as it should. */
  readonly inHand: readonly InHand[] | undefined;
  readonly conducts: Conducts;
}

/** A slot has a letter for its kind and a key, of at most 63 and 253 characters, and ends in a line break so that people can read it. */
const slotBytes = 320;
const slotOfTouched = 0;
/** More than an operator has in hand. They and what is known of twice as many fit into the directory, which is memory of 4 MiB. */
const mostSlots = 2_048;
const conductsFile = 'conducts.json';

const Conduct = z.object({
  ends: z.array(z.number()),
  apart: z.enum(['hosted', 'everything']).optional(),
  faults: z.number(),
  retryAt: z.number().optional(),
  changedAt: z.number(),
});

/**
 * Notes in a directory of the pod, which outlives its containers. Each is one write to a file in memory, because it has to be there
 * whatever ends the process, and whenever.
 */
export function openNotes(directory: string): { readonly notes: Notes; readonly left: Left } {
  mkdirSync(directory, { recursive: true });
  const descriptor = openSync(join(directory, 'in-hand'), constants.O_RDWR | constants.O_CREAT);
  const inHand = fstatSync(descriptor).size === 0 ? undefined : slotsIn(readFileSync(descriptor, 'latin1'));
  ftruncateSync(descriptor);
  return { notes: new FileNotes(directory, descriptor), left: { inHand, conducts: conductsIn(directory) } };
}

class FileNotes implements Notes {
  readonly #directory: string;
  readonly #file: number;
  readonly #taken = new Map<string, { readonly slot: number; count: number }>();
  readonly #free: number[] = [];
  #slots = 1;
  #touched: string | undefined;
  #isClosed = false;

  constructor(directory: string, file: number) {
    this.#directory = directory;
    this.#file = file;
    this.#write(slotOfTouched, '');
  }

  take(key: string, isTask = false): () => void {
    const text = `${isTask ? 't' : 'a'}${key}`;
    const entry = this.#taken.get(text) ?? { slot: this.#free.pop() ?? this.#slots, count: 0 };
    if (entry.slot >= mostSlots) return () => {};
    this.#slots = Math.max(this.#slots, entry.slot + 1);
    this.#taken.set(text, entry);
    entry.count += 1;
    if (entry.count === 1) this.#write(entry.slot, text);
    return () => {
      entry.count -= 1;
      if (entry.count > 0) return;
      this.#taken.delete(text);
      this.#free.push(entry.slot);
      this.#write(entry.slot, '');
    };
  }

  touch(key: string): void {
    if (this.#touched === key) return;
    this.#touched = key;
    this.#write(slotOfTouched, `a${key}`);
  }

  keep(conducts: Conducts): void {
    const path = join(this.#directory, conductsFile);
    writeFileSync(`${path}.new`, JSON.stringify(conducts));
    renameSync(`${path}.new`, path);
  }

  close(): void {
    this.#isClosed = true;
    ftruncateSync(this.#file);
  }

  #write(slot: number, text: string): void {
    if (!this.#isClosed) writeSync(this.#file, `${text.padEnd(slotBytes - 1)}\n`, slot * slotBytes, 'latin1');
  }
}

function slotsIn(text: string): InHand[] {
  const slots = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const keys = new Set(slots.map((slot) => slot.slice(1)));
  return [...keys].map((key) => ({ key, isTask: !slots.includes(`a${key}`) }));
}

function conductsIn(directory: string): Conducts {
  let text: string;
  try {
    text = readFileSync(join(directory, conductsFile), 'utf8');
  } catch {
    return {};
  }
  return z.record(z.string(), Conduct).catch({}).parse(parsed(text));
}

/** A node that has crashed may leave half a file. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
