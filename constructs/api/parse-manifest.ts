import { hostedControlPlaneCRD } from './crd.ts';
import { alsoInvalidBy, type ParsedHostedControlPlane, parseStoredHostedControlPlane, type Problem } from './parse.ts';
import type { StructuralSchema } from './structural.ts';
import { nearestName } from './nearest-name.ts';

/**
 * Reads a HostedControlPlane that a person or a program has written, and fills in defaults. A field that the API does not
 * have makes it invalid, as `kubectl --validate=strict` does: otherwise a misspelt one would have no effect.
 */
export function parseHostedControlPlane(object: unknown): ParsedHostedControlPlane {
  const parsed = parseStoredHostedControlPlane(object);
  const [{ schema }] = hostedControlPlaneCRD.spec.versions;
  const unknown = unknownFields(object, withoutMetadata(schema.openAPIV3Schema));
  // First: a field that is missing may be the one that is misspelt.
  return unknown.length === 0 ? parsed : alsoInvalidBy(unknown, parsed);
}

/** The API server has the schema of metadata. */
function withoutMetadata(schema: StructuralSchema): StructuralSchema {
  const metadata: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const text: StructuralSchema = { type: 'string' };
  return { ...schema, properties: { apiVersion: text, kind: text, ...schema.properties, metadata } };
}

/** Fields of an object that its schema does not have, each with the field that was probably meant. */
function unknownFields(object: unknown, schema: StructuralSchema, path = ''): Problem[] {
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
