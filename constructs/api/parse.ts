import { z } from 'zod';
import { type HostedControlPlane, HostedControlPlaneSpec, ObjectMeta } from './hosted-control-plane.ts';
import { HostedControlPlaneStatus } from './status.ts';

/** One error in an object. */
export interface Problem {
  /** Path of the field, such as `spec.etcd.volumeSize`. */
  readonly path: string;
  readonly message: string;
}

export type ParsedHostedControlPlane =
  | { readonly valid: true; readonly hostedControlPlane: HostedControlPlane }
  | {
      readonly valid: false;
      /** Enough to report the problems and to delete the object; absent when the metadata cannot be read either. */
      readonly metadata?: ObjectMeta;
      readonly problems: readonly Problem[];
      /** All problems in one sentence, for a condition. */
      readonly message: string;
    };

const Identity = z.object({ metadata: ObjectMeta });

const Envelope = z.object({
  apiVersion: z.string(),
  kind: z.literal('HostedControlPlane'),
  metadata: ObjectMeta,
  spec: HostedControlPlaneSpec,
});

/**
 * Reads an object from the API or from a file, and fills in defaults. A status that cannot be read does not make the
 * object invalid: its broken fields are omitted and computed again.
 */
export function parseHostedControlPlane(object: unknown): ParsedHostedControlPlane {
  const result = Envelope.safeParse(object, { error: (issue) => requiredMessage(issue) });
  if (!result.success) {
    const problems = result.error.issues.map((issue) => ({ path: pathText(issue.path), message: issue.message }));
    const message = problems.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
    const identity = Identity.safeParse(object);
    return { valid: false, ...(identity.success && { metadata: identity.data.metadata }), problems, message };
  }
  return { valid: true, hostedControlPlane: { ...result.data, status: readableStatus(object) } };
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
