import { familyId, furtherFamilies, pushFamilies } from '../testbed/families.ts';
import { tierOf } from './files.ts';
import type { Ledger } from './ledger.ts';

/**
 * The families of binaries, beyond those of every testbed, that files on real binaries need: those of `npm test`, and
 * for others those whose pins their rows in the ledger name.
 */
export function neededFamilies(files: readonly string[], ledger: Ledger): string[] {
  const pinned = new Set(files.flatMap((file) => ledger[file]?.proves ?? []));
  const isPush = files.some((file) => tierOf(file) === 'push');
  const needed = furtherFamilies.filter(
    (family) => pinned.has(`test/testbed/go/${family.name}`) || (isPush && pushFamilies.includes(family)),
  );
  return [...new Set(needed.map(familyId))];
}
