import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { binDirectory } from './instance.ts';
import { inMachine, type Machine } from './machine.ts';

/** Gives a machine other programs than the testbed's own, before it starts them. No other machine sees them: its mounts are its own. */
export async function replacePrograms(
  machine: Machine,
  binaries: Binaries,
  programs: readonly string[],
): Promise<void> {
  for (const program of programs) {
    const path = binaries[program];
    if (path === undefined) throw new Error(`no binary ${program}: it is in no family`);
    await inMachine(machine, ['mount', '--bind', path, join(binDirectory(machine.instance), program)]);
  }
}
