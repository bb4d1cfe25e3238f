import type { Proof } from '../contract/row.ts';

/** What a seed lets its readers type or apply, and what becomes of it here. */
export type Typed = Given & (AsWritten | Corrected | NotTried);

/** A command of a seed, or its n-th block of YAML. */
export type Given = { readonly command: string } | { readonly yaml: number; readonly what: string };

/** It works as it is, or with what the reader has to know. */
interface AsWritten {
  readonly asWritten: true;
  readonly remark?: string;
  readonly proof: Proof;
}

/** What to type in its place, and why. */
interface Corrected {
  readonly instead: string;
  readonly because: string;
  readonly proof: Proof;
}

interface NotTried {
  readonly notTried: string;
}
