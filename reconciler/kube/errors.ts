/** One cause inside a Status: for conflicts the field and its manager, for invalid objects the field and the rule. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The parts of a metav1.Status that matter to a client. */
export interface Status {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly StatusCause[]; readonly retryAfterSeconds?: number };
}

/** What a KubeError is made of. */
export interface KubeErrorDetails {
  /** HTTP status; 0 when no answer came. */
  readonly code: number;
  /** metav1 reason such as `NotFound`; `Timeout` or `Unreachable` when no answer came. */
  readonly reason: string;
  readonly causes?: readonly StatusCause[];
  /** How long the server asked us to stay away. */
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A request to an API server that failed. Its message never holds what was sent, which may be a Secret.
 */
export class KubeError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, details: KubeErrorDetails) {
    super(message, { cause: details.cause });
    this.name = 'KubeError';
    this.code = details.code;
    this.reason = details.reason;
    this.causes = details.causes ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** The error for an answer that is not a success. `action` is the verb and its target: `apply Secret a/b`. */
export function errorFromStatus(action: string, code: number, status: Status, retryAfterSeconds?: number): KubeError {
  const causes = status.details?.causes ?? [];
  const said = withoutContent(status.message ?? '');
  const conflicts = causes.filter((cause) => cause.reason === 'FieldManagerConflict').map(describeConflict);
  const fallback = said || `the server answered ${code}`;
  return new KubeError(`${action}: ${conflicts.length > 0 ? `conflict with ${conflicts.join(', ')}` : fallback}`, {
    code,
    reason: isUnreadable.test(said) ? 'Invalid' : (status.reason ?? reasonOfCode(code)),
    causes,
    retryAfterSeconds: retryAfterSeconds ?? status.details?.retryAfterSeconds,
  });
}

/** The server reports an apply that breaks the schema as its own failure, 500, although no retry will ever help. */
const isUnreadable = /^(failed to create typed patch object|failed to convert new object)/;

/** Of a value of the wrong type the server quotes all of it, Secrets included. */
function withoutContent(message: string): string {
  return message.replace(/, got &value\..*/s, ', got a value of another type');
}

/** The Status in a response body, or one that quotes the start of whatever a proxy in between answered. */
export function parseStatus(code: number, body: string): Status {
  try {
    const parsed: { kind?: unknown } & Status = JSON.parse(body);
    if (parsed.kind === 'Status') return parsed;
  } catch {
    // Load balancers and aggregated API servers answer with HTML or plain text.
  }
  const text = body.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  return { code, message: text ? `the server answered ${code}: ${text}` : `the server answered ${code}` };
}

/** `manager "kubectl" over .spec.replicas`; the server's message names the manager in quotes. */
function describeConflict(cause: StatusCause): string {
  const manager = /"(.*?)"/.exec(cause.message ?? '')?.[0] ?? 'another manager';
  return `${manager} over ${cause.field ?? 'an unnamed field'}`;
}

const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Gone',
  422: 'Invalid',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function reasonOfCode(code: number): string {
  return reasons[code] ?? (code >= 500 ? 'InternalError' : 'BadRequest');
}

/** The API server's answer behind an error that callers have wrapped, or nothing if there is none. */
export function kubeErrorOf(error: unknown): KubeError | undefined {
  if (error instanceof KubeError) return error;
  if (error instanceof AggregateError && error.errors.length > 0) return kubeErrorOf(error.errors[0]);
  return error instanceof Error && error.cause !== undefined ? kubeErrorOf(error.cause) : undefined;
}

const hasCode = (error: unknown, code: number): boolean => kubeErrorOf(error)?.code === code;

/** The object, its namespace or its whole resource does not exist. */
export const isNotFound = (error: unknown): boolean => hasCode(error, 404);

/** Somebody else changed or owns it: stale resourceVersion, other field manager, other uid, or it exists already. */
export const isConflict = (error: unknown): boolean => hasCode(error, 409);

/** A create found an object of that name. It is a conflict too. */
export const isAlreadyExists = (error: unknown): boolean => kubeErrorOf(error)?.reason === 'AlreadyExists';

/** The asked resourceVersion is compacted: list again. */
export const isGone = (error: unknown): boolean => hasCode(error, 410);

/** Our identity may not do this. */
export const isForbidden = (error: unknown): boolean => hasCode(error, 403);

/** The object breaks its schema or a validation rule: trying again without a change is useless. */
export function isInvalid(error: unknown): boolean {
  return hasCode(error, 422) || hasCode(error, 400) || kubeErrorOf(error)?.reason === 'Invalid';
}
