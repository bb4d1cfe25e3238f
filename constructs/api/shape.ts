import { z } from 'zod';

/**
 * A schema of the same types and defaults, without rules, forms and limits: it reads what an earlier release has accepted, and a
 * later one would refuse where it is written.
 */
export function shapeOf<S extends z.core.$ZodType>(schema: S): z.ZodType<z.output<S>> {
  return bare(schema) as z.ZodType<z.output<S>>;
}

function bare(schema: z.core.$ZodType): z.ZodType {
  // By its definition, because the classes of zod have no common way to leave out checks.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object') {
    const shape = Object.fromEntries(Object.entries(def.shape).map(([name, field]) => [name, bare(field)]));
    return def.catchall ? z.looseObject(shape) : z.object(shape);
  }
  if (def.type === 'array') return z.array(bare(def.element));
  if (def.type === 'record') return z.record(z.string(), bare(def.valueType));
  if (def.type === 'optional') return bare(def.innerType).optional();
  if (def.type === 'default') return bare(def.innerType).default(def.defaultValue);
  if (def.type === 'prefault') return bare(def.innerType).prefault(def.defaultValue);
  if (def.type === 'string') return z.string();
  if (def.type === 'number') return z.number();
  // Quantities, and closed sets of values.
  return schema as z.ZodType;
}
