import { z } from 'zod';
import { type ComponentTemplate, ComponentTemplateSpec } from './component-template.ts';
import { type HostedControlPlane, HostedControlPlaneSpec, ObjectMeta } from './hosted-control-plane.ts';
import { HostedControlPlaneStatus } from './status.ts';

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

/**
 * Reads an object that an API server has stored, and fills in defaults. Fields that this release does not know are left out:
 * an older or a newer one may have stored them. A status that cannot be read does not make the
 * object invalid: its broken fields are omitted and computed again.
 */
export function parseStoredHostedControlPlane(object: unknown): ParsedHostedControlPlane {
  const result = Envelope.safeParse(object, { error: (issue) => requiredMessage(issue) });
  if (!result.success) {
    const identity = Identity.safeParse(object);
    return {
      valid: false,
      ...(identity.success && { metadata: identity.data.metadata }),
      ...whatIsWrong(result.error),
    };
  }
  return { valid: true, hostedControlPlane: { ...result.data, status: readableStatus(object) } };
}

const TemplateEnvelope = z.object({
  kind: z.literal('HostedControlPlaneComponentTemplate'),
  metadata: z.looseObject({ name: z.string().min(1) }),
  spec: ComponentTemplateSpec,
});

/** Reads a template from the API or from a file. Returns its problems in one sentence when it is invalid. */
export function parseComponentTemplate(
  object: unknown,
):
  | { readonly valid: true; readonly template: ComponentTemplate }
  | { readonly valid: false; readonly message: string } {
  const result = TemplateEnvelope.safeParse(object, { error: (issue) => requiredMessage(issue) });
  if (!result.success) return { valid: false, message: whatIsWrong(result.error).message };
  const { metadata, spec } = result.data;
  return { valid: true, template: { name: metadata.name, spec } };
}

function whatIsWrong(error: z.ZodError): WhatIsWrong {
  return described(error.issues.map((issue) => ({ path: pathText(issue.path), message: issue.message })));
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
  const readable = Object.entries(HostedControlPlaneStatus.shape).flatMap(([field, schema]) => {
    const value = schema.safeParse(given.data.status[field]);
    return value.success && value.data !== undefined ? [[field, value.data]] : [];
  });
  return HostedControlPlaneStatus.parse(Object.fromEntries(readable));
}
