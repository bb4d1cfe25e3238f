import { nearestName } from './nearest-name.ts';
import type { Problem } from './parse.ts';
import type { StructuralSchema } from './structural.ts';

/** Fields of an object that its schema does not have, each with the field that was probably meant. */
export function unknownFields(object: unknown, schema: StructuralSchema, path = ''): Problem[] {
  if (Array.isArray(object)) {
    const { items } = schema;
    return items ? object.flatMap((item, index) => unknownFields(item, items, `${path}[${index}]`)) : [];
  }
  if (typeof object !== 'object' || object === null || schema['x-kubernetes-preserve-unknown-fields']) return [];
  const { properties, additionalProperties } = schema;
  return Object.entries(object).flatMap(([name, value]) => {
    const own = properties?.[name] ?? additionalProperties;
    const field = path === '' ? name : `${path}.${name}`;
    if (own) return unknownFields(value, own, field);
    if (!properties) return [];
    const nearest = nearestName(name, Object.keys(properties));
    const meant = nearest === undefined ? '' : `: did you mean ${nearest}?`;
    return [{ path: field, message: `is no field of the API${meant}` }];
  });
}
