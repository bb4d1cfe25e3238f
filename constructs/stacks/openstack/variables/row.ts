import type { z } from 'zod';
import type { ClassPatch } from '../class-patch.ts';

/** One variable of the ClusterClass: what it accepts, what it does, and where the page lists it. */
export interface VariableRow {
  /** Schema with default and description. */
  readonly schema: z.ZodType;
  /** The patches that read it, or the variable whose patches read it too. */
  readonly patches: readonly ClassPatch[] | { readonly partOf: string };
}

/** Variables by their names. */
export type VariableRows = Readonly<Record<string, VariableRow>>;
