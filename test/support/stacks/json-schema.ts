/** The keywords of JSON schema that definitions of Kubernetes kinds and the schemas of charts use. */
export interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly if?: JsonSchema;
  readonly then?: JsonSchema;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly minProperties?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** What a schema refuses of a value, each with its path. Empty for a value that it accepts. */
export function violations(schema: JsonSchema, value: unknown, path = ''): string[] {
  const says = (wrong: boolean, what: string) => (wrong ? [`${path || 'it'} ${what}`] : []);
  const matching = (schemas: readonly JsonSchema[]) =>
    schemas.filter((one) => violations(one, value).length === 0).length;
  return [
    ...says(schema.type !== undefined && !isOfType(schema.type, value), `is not of type ${schema.type}`),
    ...says(schema.enum !== undefined && !schema.enum.includes(value), `is none of ${schema.enum?.join(', ')}`),
    ...says('const' in schema && schema.const !== value, `is not ${JSON.stringify(schema.const)}`),
    ...says(schema.anyOf !== undefined && matching(schema.anyOf) === 0, 'matches no alternative'),
    ...says(schema.oneOf !== undefined && matching(schema.oneOf) !== 1, 'does not match exactly one alternative'),
    ...says(schema.not !== undefined && matching([schema.not]) === 1, 'matches what it must not'),
    ...(schema.if && schema.then && matching([schema.if]) === 1 ? violations(schema.then, value, path) : []),
    ...(schema.allOf ?? []).flatMap((one) => violations(one, value, path)),
    ...(typeof value === 'string' ? says(!isTextOf(schema, value), 'has a wrong length or pattern') : []),
    ...(typeof value === 'number'
      ? says(value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity), 'is out of range')
      : []),
    ...(Array.isArray(value) ? says(value.length < (schema.minItems ?? 0), 'has too few entries') : []),
    ...(Array.isArray(value) && schema.items
      ? value.flatMap((one, index) => violations(schema.items ?? {}, one, `${path}[${index}]`))
      : []),
    ...(isFields(value) ? violationsOfFields(schema, value, path) : []),
  ];
}

function violationsOfFields(schema: JsonSchema, fields: Fields, path: string): string[] {
  const { properties = {}, additionalProperties: more = true, required = [], minProperties = 0 } = schema;
  const tooFew = Object.keys(fields).length < minProperties ? [`${path || 'it'} has too few fields`] : [];
  const missing = required.filter((name) => !(name in fields)).map((name) => `${path}.${name} is missing`);
  const wrong = Object.entries(fields).flatMap(([name, value]) => {
    const known = properties[name] ?? (typeof more === 'object' ? more : undefined);
    if (known) return violations(known, value, `${path}.${name}`);
    return more === false ? [`${path}.${name} is unknown`] : [];
  });
  return [...tooFew, ...missing, ...wrong];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  return type === 'object' ? isFields(value) : typeof value === type;
}

function isTextOf({ pattern, minLength = 0, maxLength = Infinity }: JsonSchema, text: string): boolean {
  const matches = pattern === undefined || new RegExp(pattern).test(text);
  return matches && text.length >= minLength && text.length <= maxLength;
}
