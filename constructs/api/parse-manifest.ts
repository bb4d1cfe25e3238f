import { hostedControlPlaneCRD } from './crd.ts';
import { alsoInvalidBy, type ParsedHostedControlPlane, parseStoredHostedControlPlane } from './parse.ts';
import type { StructuralSchema } from './structural.ts';
import { unknownFields } from './unknown-fields.ts';

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
