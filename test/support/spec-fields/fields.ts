import type { StructuralSchema } from '../../../constructs/api/structural.ts';
import { keysOf, randomFrom, sampleOf } from './samples.ts';

/** A field that has no fields of its own. */
export interface Field {
  /** As in documentation: `etcd.backup.schedule`; `*` stands for any key, `[]` for the elements of a list. */
  readonly name: string;
  readonly schema: StructuralSchema;
  /** The schemas from the spec down to the field, with the name by which each is reached. */
  readonly steps: readonly (readonly [string, StructuralSchema])[];
}

const element = '[]';
const anyKey = '*';

/** Every field without fields of its own, in the order of the schema. */
export function fieldsOf(schema: StructuralSchema, steps: Field['steps'] = []): Field[] {
  const { properties = {}, items, additionalProperties } = schema;
  const below: [string, StructuralSchema][] = [
    ...Object.entries(properties),
    ...(items ? [[element, items] satisfies [string, StructuralSchema]] : []),
    ...(additionalProperties ? [[anyKey, additionalProperties] satisfies [string, StructuralSchema]] : []),
  ];
  if (below.length === 0) return [{ name: steps.map(([name]) => name).join('.'), schema, steps }];
  return below.flatMap(([name, child]) => fieldsOf(child, [...steps, [name, child]]));
}

/** The path of a field in a spec, with a key of each map and the first element of each list. */
export function pathOf({ steps }: Field): string[] {
  const path: string[] = [];
  for (const [name] of steps)
    path.push(name === anyKey ? (keysOf(path.join('.'))[0] ?? '') : name === element ? '0' : name);
  return path;
}

/** A spec with another value of one field. What that field's parents require is added. */
export function withField(spec: object, field: Field, value: unknown): object {
  return placed(spec, field.steps, pathOf(field), [], value) as object;
}

function placed(
  present: unknown,
  [step, ...steps]: Field['steps'],
  [key = '', ...path]: readonly string[],
  above: readonly string[],
  value: unknown,
): unknown {
  if (!step) return value;
  const [name, schema] = step;
  const here = [...above, key];
  const old: unknown = (present as Record<string, unknown> | undefined)?.[key];
  const given = old ?? (steps.length > 0 ? required(schema, here) : undefined);
  const child = placed(given, steps, path, here, value);
  return name === element ? [child] : { ...(present as object | undefined), [key]: child };
}

function required(schema: StructuralSchema, path: readonly string[]): unknown {
  return schema.properties ? sampleOf(schema, path.join('.'), { random: randomFrom(1), share: 0 }) : undefined;
}
