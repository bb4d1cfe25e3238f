import { fileOf } from '../contract/table.ts';
import { markdownTable } from '../support/readme-block.ts';
import { hetzner } from './hetzner.ts';
import { openstack } from './openstack.ts';
import { teutonet } from './teutonet.ts';
import type { Typed } from './typed.ts';

/** What each seed lets its readers type or apply, by its number. 003 and 004 have neither commands nor manifests. */
export const seeds: Readonly<Record<string, readonly Typed[]>> = { '000': teutonet, '001': openstack, '002': hetzner };

/** All of it, and what becomes of it here, as a table in Markdown. */
export function seedsTable(): string {
  const rows = Object.entries(seeds).flatMap(([seed, all]) =>
    all.map((typed) => [seed, nameOf(typed), verdictOf(typed), proofOf(typed)]),
  );
  return markdownTable([['seed', 'as it is written', 'here', 'test'], ...rows]);
}

/** The command, or what a block of YAML is. */
export function nameOf(typed: Typed): string {
  return 'command' in typed ? code(typed.command) : typed.what;
}

function verdictOf(typed: Typed): string {
  if ('notTried' in typed) return `not tried: ${typed.notTried}`;
  if ('asWritten' in typed) return ['works as written', typed.remark].filter((part) => part !== undefined).join(', ');
  return `corrected: ${typed.instead.includes('`') ? typed.instead : code(typed.instead)}, because ${typed.because}`;
}

function proofOf(typed: Typed): string {
  return 'proof' in typed ? `\`${fileOf(typed.proof)}\`: ${typed.proof[1]}` : '';
}

function code(command: string): string {
  return `\`${command}\``;
}
