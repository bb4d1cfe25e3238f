import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type ComponentTemplate, ComponentTemplateSpec } from './component-template.ts';
import { type HostedControlPlane, HostedControlPlaneSpec, ObjectMeta } from './hosted-control-plane.ts';
import { HostedControlPlaneStatus } from './status.ts';
import { checkedPath } from './validation-rule.ts';

/** One error in an object. */
export interface Problem {
  /** Path of the field, such as `spec.etcd.volumeSize`. */
  readonly path: string;
  readonly message: string;
}

interface WhatIsWrong {
  readonly problems: readonly Problem[];
  /** All problems in one sentence, for a condition. */
  readonly message: string;
}

export type ParsedHostedControlPlane =
  | { readonly valid: true; readonly hostedControlPlane: HostedControlPlane }
  | ({
      readonly valid: false;
      /** Enough to report the problems and to delete the object; absent when the metadata cannot be read either. */
      readonly metadata?: ObjectMeta;
    } & WhatIsWrong);

const Identity = z.object({ metadata: ObjectMeta });

const Envelope = z.object({
  apiVersion: z.string(),
  kind: z.literal('HostedControlPlane'),
  metadata: ObjectMeta,
  spec: HostedControlPlaneSpec,
});

const Shape = shapeOf(Envelope);

/**
 * Reads an object that an API server has stored, and fills in defaults. Fields that this release does not know are left out:
 * an older or a newer one may have stored them. A status that cannot be read does not make the
 * object invalid: its broken fields are omitted and computed again.
 * @param accepted the spec that was accepted last, if any: as an API server does, a rule that a value breaks which has not changed
 * since is not held against the object. An earlier release may not have had the rule.
 */
export function parseStoredHostedControlPlane(object: unknown, accepted?: unknown): ParsedHostedControlPlane {
  const result = Envelope.safeParse(object, { error: (issue) => requiredMessage(issue) });
  const read = (data: z.output<typeof Envelope>): ParsedHostedControlPlane => ({
    valid: true,
    hostedControlPlane: { ...data, status: readableStatus(object) },
  });
  if (result.success) return read(result.data);
  const shape = accepted === undefined ? undefined : Shape.safeParse(object).data;
  const before = accepted === undefined ? undefined : Shape.safeParse({ ...Object(object), spec: accepted }).data;
  const issues = result.error.issues.filter((issue) => !shape || !before || isNew(issue, before, shape));
  if (shape && issues.length === 0) return read(shape);
  const identity = Identity.safeParse(object);
  return {
    valid: false,
    ...(identity.success && { metadata: identity.data.metadata }),
    ...whatIsWrong(issues),
  };
}

/** Whether a value that breaks a rule is another one than before. No release can render a version that it does not support. */
function isNew(issue: z.core.$ZodIssue, before: unknown, now: unknown): boolean {
  const path = checkedPath(issue);
  return pathText(path) === 'spec.version' || !isDeepStrictEqual(valueAt(before, path), valueAt(now, path));
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (found, part) => (found === undefined ? undefined : Reflect.get(Object(found), part)),
    value,
  );
}

const TemplateEnvelope = z.object({
  kind: z.literal('HostedControlPlaneComponentTemplate'),
  metadata: z.looseObject({ name: z.string().min(1) }),
  spec: ComponentTemplateSpec,
});

const TemplateShape = shapeOf(TemplateEnvelope);

/**
 * Reads a template from the API or from a file. Returns its problems in one sentence when it is invalid.
 * @param isInUse whether a control plane was accepted before, whose spec with that of the template is checked then
 */
export function parseComponentTemplate(
  object: unknown,
  isInUse: boolean = false,
):
  | { readonly valid: true; readonly template: ComponentTemplate }
  | { readonly valid: false; readonly message: string } {
  const result = (isInUse ? TemplateShape : TemplateEnvelope).safeParse(object, {
    error: (issue) => requiredMessage(issue),
  });
  if (!result.success) return { valid: false, message: whatIsWrong(result.error.issues).message };
  const { metadata, spec } = result.data;
  return { valid: true, template: { name: metadata.name, spec } };
}

function whatIsWrong(issues: readonly z.core.$ZodIssue[]): WhatIsWrong {
  return described(issues.map((issue) => ({ path: pathText(issue.path), message: issue.message })));
}

function described(problems: readonly Problem[]): WhatIsWrong {
  return {
    problems,
    message: problems.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; '),
  };
}

/** An object with further problems, which come first. */
export function alsoInvalidBy(
  problems: readonly Problem[],
  parsed: ParsedHostedControlPlane,
): ParsedHostedControlPlane {
  if (!parsed.valid) return { ...parsed, ...described([...problems, ...parsed.problems]) };
  return { valid: false, metadata: parsed.hostedControlPlane.metadata, ...described(problems) };
}

function requiredMessage(issue: z.core.$ZodRawIssue): string | undefined {
  return issue.code === 'invalid_type' && issue.input === undefined ? 'is required' : undefined;
}

/** `spec.etcd.backup`, `spec.oidcProviders["https://issuer"].audiences[0]`. */
function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return /^[A-Za-z][A-Za-z0-9]*$/.test(String(part)) ? `.${String(part)}` : `["${String(part)}"]`;
  });
  return text.join('').replace(/^\./, '');
}

/** Older releases and manually edited objects may have fields of another shape. */
function readableStatus(object: unknown): HostedControlPlaneStatus | undefined {
  const given = z.object({ status: z.record(z.string(), z.unknown()) }).safeParse(object);
  if (!given.success) return undefined;
  const whole = HostedControlPlaneStatus.safeParse(given.data.status);
  if (whole.success) return whole.data;
  const readable = Object.entries(HostedControlPlaneStatus.shape).flatMap(([field, schema]) => {
    const value = schema.safeParse(given.data.status[field]);
    return value.success && value.data !== undefined ? [[field, value.data]] : [];
  });
  return HostedControlPlaneStatus.parse(Object.fromEntries(readable));
}

/**
 * A schema of the same types and defaults, without rules, forms and limits: it reads what an earlier release has accepted, and a
 * later one would refuse where it is written.
 */
function shapeOf<S extends z.core.$ZodType>(schema: S): z.ZodType<z.output<S>> {
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
