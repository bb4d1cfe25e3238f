import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Handshake } from '../simulation/chain.ts';

/** A chain to verify at a time, or a signing request, which has no usage. */
export type GoQuestion = (Handshake & { readonly at: Date }) | { readonly presented: string };

/** What Go's crypto/x509, which every Kubernetes component verifies with, reports for each: an error, or nothing. */
export function askGo(questions: readonly GoQuestion[]): string[] {
  const program = join(import.meta.dirname, 'go-verifier/main.go');
  const output = execFileSync('go', ['run', program], {
    encoding: 'utf8',
    input: JSON.stringify(questions),
    env: { ...process.env, GO111MODULE: 'off', CGO_ENABLED: '0' },
  });
  return JSON.parse(output) as string[];
}
