import { familyId, furtherFamilies, pushFamilies } from '../testbed/families.ts';
import { type Project, projectOf, tierOf } from './files.ts';
import type { Lane } from './lane.ts';
import type { Ledger } from './ledger.ts';
import { testbeds } from './testbeds.ts';

/** What runs, in this order. */
export interface Plan {
  /** Alone: pure tests use all processors, and their failures are reported at once. */
  readonly pure: Lane | undefined;
  /** Side by side. */
  readonly real: readonly Lane[];
  /** Alone, because some of these files measure how long things take. */
  readonly soak: Lane | undefined;
}

/**
 * The lanes that run some of all test files.
 * @param all of the repository
 */
export function planOf(files: readonly string[], all: readonly string[]): Plan {
  const chosen = (list: readonly string[], ...projects: Project[]) =>
    list.filter((file) => projects.includes(projectOf(file)));
  const projectsOf = (list: readonly string[]) => [...new Set(list.map(projectOf))];
  const pure = chosen(files, 'unit', 'full-unit');
  const isWhole = pure.length === chosen(all, ...projectsOf(pure)).length;
  const host = chosen(files, 'host');
  const real = chosen(files, 'testbed');
  const lent = chosen(files, 'lent');
  const soak = chosen(files, 'soak');
  return {
    pure: pure.length > 0 ? { name: 'unit', projects: projectsOf(pure), files: pure, isWhole } : undefined,
    real: [
      { name: 'host', projects: ['host'] as const, files: host, testbed: testbeds.host, room: 'counts' as const },
      // the longest lane: what it waits for room, the run takes longer
      { name: 'lent', projects: ['lent'] as const, files: lent, testbed: testbeds.real, room: 'counts' as const },
      { name: 'real', projects: ['testbed'] as const, files: real, testbed: testbeds.real, room: 'waits' as const },
    ].filter((lane) => lane.files.length > 0),
    soak: soak.length > 0 ? { name: 'soak', projects: ['soak'], files: soak, testbed: testbeds.real } : undefined,
  };
}

/** The lane that runs one file once more, alone. */
export function againLane(file: string, index: number): Lane {
  const project = projectOf(file);
  const testbed = project === 'host' ? testbeds.host : testbeds.real;
  return { name: `again-${index}`, projects: [project], files: [file], testbed };
}

/**
 * The families of binaries, beyond those of every testbed, that files on real binaries need: those of `npm test`, and
 * for others those whose pins their rows in the ledger name.
 */
export function neededFamilies(files: readonly string[], ledger: Ledger): string[] {
  const pinned = new Set(files.flatMap((file) => ledger[file]?.proves ?? []));
  const isPush = files.some((file) => tierOf(file) === 'push');
  const needed = furtherFamilies.filter(
    (family) => pinned.has(`test/tools/testbed/go/${family.name}`) || (isPush && pushFamilies.includes(family)),
  );
  return [...new Set(needed.map(familyId))];
}
