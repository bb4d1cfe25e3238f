import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Instance } from '../../tools/testbed/instance.ts';
import { type ProcessRecord, processRecord } from '../../tools/testbed/process-record.ts';
import type { LentName } from './kinds.ts';
import type { LentState } from './return-faults.ts';

/** A control plane that files lend to each other, as their processes know it. */
export interface LentRecord {
  /** The process of the run that made it: no other run uses it, as its sources may differ. */
  readonly run: ProcessRecord;
  readonly birth: LentState;
  /** The file that has it; one that ended without a return has left it in an unknown state. */
  readonly borrower?: string;
}

/** The record of a control plane that may be lent; undefined if there is none. */
export async function readRecord(instance: Instance, name: LentName): Promise<LentRecord | undefined> {
  const text = await readFile(recordPath(instance, name), 'utf8').catch(() => undefined);
  const record = text === undefined ? undefined : (JSON.parse(text) as LentRecord);
  if (record === undefined || record.borrower !== undefined) return undefined;
  const run = await processRecord(record.run.pid);
  return run?.startTime === record.run.startTime ? record : undefined;
}

export async function writeRecord(instance: Instance, name: LentName, record: LentRecord): Promise<void> {
  const path = recordPath(instance, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, JSON.stringify(record));
  await rename(`${path}.new`, path);
}

/** Lets the next borrower make another one. */
export async function removeRecord(instance: Instance, name: LentName): Promise<void> {
  await rm(recordPath(instance, name), { force: true });
}

/** Held by the file that has the control plane. */
export function lockPath(instance: Instance, name: LentName): string {
  return join(lentDirectory(instance), `${fileName(name)}.lock`);
}

function recordPath(instance: Instance, name: LentName): string {
  return join(lentDirectory(instance), `${fileName(name)}.json`);
}

/** It ends with the testbed. */
function lentDirectory(instance: Instance): string {
  return join(instance.directory, 'lent');
}

function fileName(name: LentName): string {
  return name.replaceAll(' ', '-');
}
