import { markdownTable } from '../support/readme-block.ts';
import { classes } from './classes.ts';
import { clusterctl } from './clusterctl.ts';
import { definitions } from './definitions.ts';
import { type Id, ids } from './ids.ts';
import { ownership } from './ownership.ts';
import type { Proof, Row } from './row.ts';
import { secrets } from './secrets.ts';
import { status } from './status.ts';
import { workers } from './workers.ts';

/** Cluster API's contract for control plane providers. The compiler misses an id without a row. */
export const contract: Readonly<Record<Id, Row>> = {
  ...definitions,
  ...ownership,
  ...status,
  ...secrets,
  ...classes,
  ...workers,
  ...clusterctl,
};

/** The file of a proof, from the root of the repository. */
export const fileOf = ([file]: Proof): string => `test/${file}.ts`;

/** The contract as a table in Markdown. */
export function contractTable(): string {
  return markdownTable([
    ['id', 'demand', 'state', 'proved by'],
    ...ids.map((id) => [id, contract[id].demand, stateOf(contract[id]), proofsOf(contract[id])]),
  ]);
}

/** How many demands are in each state, as one line. */
export function contractCounts(): string {
  const count = (state: (row: Row) => boolean): number => ids.filter((id) => state(contract[id])).length;
  const open = count((row) => 'open' in row);
  const notApplicable = count((row) => 'notApplicable' in row);
  return `${ids.length} demands: ${ids.length - open - notApplicable} proved, ${open} open, ${notApplicable} not applicable.`;
}

function stateOf(row: Row): string {
  if ('open' in row) return `**open**: ${row.open}`;
  return 'notApplicable' in row ? `not applicable: ${row.notApplicable}` : 'proved';
}

function proofsOf({ proofs = [] }: Row): string {
  return proofs.map((proof) => `\`${fileOf(proof)}\`: ${proof[1]}`).join('; ');
}
