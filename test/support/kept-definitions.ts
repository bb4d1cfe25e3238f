import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { StructuralSchema } from '../../constructs/api/structural.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';

const directory = join(import.meta.dirname, '../../imports/definitions');

/** The definition of a foreign kind. */
export interface KeptDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: StructuralSchema };
    }[];
  };
}

/** The definitions of foreign kinds that no Go module of the testbed contains, in the order of their names. */
export async function keptDefinitions(): Promise<KeptDefinition[]> {
  const files = (await readdir(directory)).toSorted();
  return Promise.all(files.map(async (file) => parse(await readFile(join(directory, file), 'utf8')) as KeptDefinition));
}
