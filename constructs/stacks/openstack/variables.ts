import { z } from 'zod';
import type { ClassPatch } from './class-patch.ts';
import { controlPlaneVariables } from './variables/control-plane.ts';
import { accessVariables, imageVariables } from './variables/machines.ts';
import { networkVariables } from './variables/network.ts';
import type { VariableRow } from './variables/row.ts';
import { workerVariables } from './variables/workers.ts';

/**
 * The variables of the OpenStack stack, by the sections of its page. The ClusterClass, the types of the constructs and the
 * table of the page derive from it.
 */
export const variableSections = {
  'Control plane': controlPlaneVariables,
  Network: networkVariables,
  Workers: workerVariables,
  Image: imageVariables,
  Access: accessVariables,
} as const;

const rows = {
  ...controlPlaneVariables,
  ...networkVariables,
  ...workerVariables,
  ...imageVariables,
  ...accessVariables,
} as const;

/** Every variable by its name. */
export const variableRows: Readonly<Record<string, VariableRow>> = rows;

type Schemas = { readonly [Name in keyof typeof rows]: (typeof rows)[Name]['schema'] };

/** @internal */
export const OpenStackVariables = z.strictObject(
  Object.fromEntries(Object.entries(rows).map(([name, { schema }]) => [name, schema])) as unknown as Schemas,
);
/** The values of all variables that a user sets. Unknown names are errors; every variable has a default, or may be unset. */
export type OpenStackVariables = z.input<typeof OpenStackVariables>;

/** The patches of the ClusterClass in their order. */
export const classPatches: readonly ClassPatch[] = Object.values(variableRows).flatMap(({ patches }) =>
  'partOf' in patches ? [] : patches,
);
