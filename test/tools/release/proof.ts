import { readFlakes, refusalOf } from '../run/flakes.ts';
import { contentHashes, readLedger, staleFiles } from '../run/ledger.ts';

/** Why the sources are not proved well enough to be released; undefined if they are. */
export function whyUnproved(
  ledger = readLedger(),
  hashes = contentHashes(ledger),
  flakes = readFlakes(),
): string | undefined {
  const stale = staleFiles(ledger, hashes).map((file) => `${file} (green ${ledger[file]?.green || 'never'})`);
  if (stale.length > 0) {
    return `${stale.length} test files were not green for these sources: run \`npm run test:stale -- --soak --minutes 300\`, and commit test/tools/run/ledger.json:\n  ${stale.join('\n  ')}`;
  }
  return refusalOf(flakes);
}
