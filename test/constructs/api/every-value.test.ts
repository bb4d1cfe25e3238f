import { describe, expect, it } from 'vitest';
import { definitions } from '../../../constructs/api/crd.ts';
import { children, type StructuralSchema } from '../../../constructs/api/structural.ts';

interface Field {
  readonly path: string;
  readonly schema: StructuralSchema;
}

const fieldsOf = (schema: StructuralSchema, path: string): Field[] => [
  { path, schema },
  ...children(schema).flatMap(([name, child]) => fieldsOf(child, `${path}.${name}`)),
];

const isWrittenByUsers = ({ path }: Field) =>
  !/^HostedControlPlane\.status|^[A-Za-z]+\.(apiVersion|kind|metadata)\b/.test(path);

const fields = definitions
  .flatMap(({ spec }) => fieldsOf(spec.versions[0].schema.openAPIV3Schema, spec.names.kind))
  .filter(isWrittenByUsers);

/** Texts without a form of their own, by the end of their path, and why they have none. */
const freeTexts: readonly (readonly [path: RegExp, why: string])[] = [
  [/\.machineTemplate\..*/, 'ignored: Cluster API writes it, and checks it itself'],
  [/\.(rotation|rotation\.\w+|restore\.request)$/, 'any text: only that it changes matters'],
  [
    /\.args\.\*$/,
    'each flag has its own form, which its program checks; a rule refuses what it accepts and should not',
  ],
  [/\.env\.items\.value$/, 'the program that reads a variable gives it a meaning'],
  [/\.annotations\.\*$/, 'the value of an annotation is any text to Kubernetes'],
  [/\.corefile$/, 'the language of CoreDNS'],
  [/\.(expression|claimMappings\.(username|groups))$/, 'CEL of kube-apiserver, which a pod checks before it is used'],
  [/\.claimValidationRules\.items\.message$/, 'a text for people'],
  [/\.audiences\.items$/, 'an audience is any text that a token has'],
  [
    /\.audit\.policy\.rules\.items\..*/,
    'names of users, verbs and resources of any API: kube-apiserver checks the policy',
  ],
  [
    /^HostedControlPlaneTemplate\..*\.gateway\.(name|namespace)$/,
    'patches of a ClusterClass replace them; the rule is one of HostedControlPlanes',
  ],
  [
    /^HostedControlPlane\.spec\.(exposure\.)?gateway\.(name|namespace)$/,
    'the rule gatewayNames of the spec covers them',
  ],
];

const hasForm = ({ schema }: Field) =>
  schema.pattern !== undefined ||
  schema.enum !== undefined ||
  schema.format !== undefined ||
  (schema['x-kubernetes-validations'] ?? []).length > 0;

const texts = fields.filter(({ schema }) => schema.type === 'string');

const pathsOf = (given: readonly Field[]) => given.map(({ path }) => path);

describe('every value that a user writes', () => {
  it('has, as a text, a form that is checked where it is written, or a reason to have none', () => {
    expect(texts.length).toBeGreaterThan(400);
    const formless = texts.filter((field) => !hasForm(field));
    expect(pathsOf(formless.filter(({ path }) => !freeTexts.some(([end]) => end.test(path))))).toEqual([]);
  });

  it.each(freeTexts)('has no form at %s only where there is such a field: %s', (end) => {
    expect(texts.filter((field) => end.test(field.path) && !hasForm(field))).not.toEqual([]);
  });

  it('has, as a text, a limit of its length', () => {
    const fixed = ({ enum: values, format }: StructuralSchema) => values !== undefined || format === 'date-time';
    expect(pathsOf(texts.filter(({ schema }) => schema.maxLength === undefined && !fixed(schema)))).toEqual([]);
  });

  it('has, as a list or a map, a limit of its entries', () => {
    const lists = fields.filter(({ schema }) => schema.type === 'array');
    const maps = fields.filter(({ schema }) => schema.additionalProperties !== undefined);
    expect([lists.length > 150, maps.length > 100]).toEqual([true, true]);
    expect(pathsOf(lists.filter(({ schema }) => schema.maxItems === undefined))).toEqual([]);
    expect(pathsOf(maps.filter(({ schema }) => schema.maxProperties === undefined))).toEqual([]);
  });

  it('has, as a map, keys that a rule checks', () => {
    const maps = fields.filter(({ schema }) => schema.additionalProperties !== undefined);
    expect(pathsOf(maps.filter(({ schema }) => !schema['x-kubernetes-validations']?.length))).toEqual([]);
  });

  it('has, as a number, bounds', () => {
    const numbers = fields.filter(({ schema: { type, enum: values } }) => type === 'integer' && values === undefined);
    expect(numbers.length).toBeGreaterThan(80);
    const isBounded = ({ minimum, maximum }: StructuralSchema) => minimum !== undefined && maximum !== undefined;
    expect(pathsOf(numbers.filter(({ schema }) => !isBounded(schema)))).toEqual([]);
  });

  it('is a quantity only in the form of Kubernetes', () => {
    const either = fields.filter(({ schema }) => schema['x-kubernetes-int-or-string']);
    expect(either.length).toBeGreaterThan(50);
    expect(pathsOf(either.filter((field) => !hasForm(field) || !field.schema.maxLength))).toEqual([]);
  });
});
