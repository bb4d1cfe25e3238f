import { definedOnly } from '../../constructs/cluster/defined-only.ts';

/** One cause in a Status: for conflicts the field and its manager, for invalid objects the field and the rule. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The fields of a metav1.Status that the client reads. */
export interface Status {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly StatusCause[]; readonly retryAfterSeconds?: number };
}

/** Details of a KubeError. */
export interface KubeErrorDetails {
  /** HTTP status; 0 without a response. */
  readonly code: number;
  /** metav1 reason such as `NotFound`; `Timeout`, `Unreachable` or `Silent` without a response. */
  readonly reason: string;
  readonly causes?: readonly StatusCause[];
  /** Retry-After of the server, in seconds. */
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** A failed request to an API server. Its message never contains the request body, which may be a Secret. */
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

/** The error for an unsuccessful response. `action` is the verb and its target: `apply Secret a/b`. */
export function errorFromStatus(action: string, code: number, status: Status, retryAfterSeconds?: number): KubeError {
  const causes = (status.details?.causes ?? []).slice(0, mostCauses).map(shortened);
  const said = withoutContent(short(status.message) ?? '');
  const conflicts = causes.filter((cause) => cause.reason === 'FieldManagerConflict').map(describeConflict);
  const fallback = said || `the server answered ${code}`;
  return new KubeError(`${action}: ${conflicts.length > 0 ? `conflict with ${conflicts.join(', ')}` : fallback}`, {
    code,
    reason: isUnreadable.test(said) ? 'Invalid' : (short(status.reason, longestName) ?? reasonOfCode(code)),
    causes,
    retryAfterSeconds: retryAfterSeconds ?? status.details?.retryAfterSeconds,
  });
}

/** What is kept of an answer: errors are remembered, and become conditions. */
const mostCauses = 50;
const longestWords = 8192;
const longestName = 253;

function short(text: unknown, longest = longestWords): string | undefined {
  return typeof text === 'string' ? text.slice(0, longest) : undefined;
}

function shortened({ reason, message, field }: StatusCause): StatusCause {
  return definedOnly({ reason: short(reason, longestName), message: short(message), field: short(field, longestName) });
}

/** The server reports an apply that violates the schema as an internal error, 500, although no retry can succeed. */
const isUnreadable = /^(failed to create typed patch object|failed to convert new object)/;

/** The server quotes the complete value when its type is wrong, including Secrets. */
function withoutContent(message: string): string {
  return message.replace(/, got &value\..*/s, ', got a value of another type');
}

/** The Status in a response body, or one that quotes the start of the response of a proxy. */
export function parseStatus(code: number, body: string): Status {
  try {
    const parsed: { kind?: unknown } & Status = JSON.parse(body);
    if (parsed.kind === 'Status') return parsed;
  } catch {
    // Load balancers and aggregated API servers may answer with HTML or plain text.
  }
  const text = body.slice(0, longestWords).replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  return { code, message: text ? `the server answered ${code}: ${text}` : `the server answered ${code}` };
}

/** `manager "kubectl" over .spec.replicas`. The server's message contains the manager in quotes. */
function describeConflict(cause: StatusCause): string {
  const { message = '' } = cause;
  const [from, to] = [message.indexOf('"'), message.indexOf('"', message.indexOf('"') + 1)];
  const manager = from < 0 || to <= from ? 'another manager' : message.slice(from, to + 1);
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

/** The KubeError in a chain of wrapped errors; undefined if there is none. */
export function kubeErrorOf(error: unknown): KubeError | undefined {
  if (error instanceof KubeError) return error;
  if (error instanceof AggregateError && error.errors.length > 0) return kubeErrorOf(error.errors[0]);
  return error instanceof Error && error.cause !== undefined ? kubeErrorOf(error.cause) : undefined;
}

const hasCode = (error: unknown, code: number): boolean => kubeErrorOf(error)?.code === code;

/** The object, its namespace or its whole resource does not exist. */
export const isNotFound = (error: unknown): boolean => hasCode(error, 404);

/** The server does not serve the API of the resource at all. */
export const isNotServed = (error: unknown): boolean =>
  isNotFound(error) && /could not find the requested resource|404 page not found/.test((error as KubeError).message);

/**
 * Another client has changed or owns it: outdated resourceVersion, other field manager, other UID, or it exists
 * already.
 */
export const isConflict = (error: unknown): boolean => hasCode(error, 409);

/** An apply or patch named the UID of an object that no longer exists: another one has its name now. */
export function isReplaced(error: unknown): boolean {
  const { code, causes = [] } = kubeErrorOf(error) ?? {};
  return code === 422 && causes.some(({ field }) => field === 'metadata.uid');
}

/** A create found an object with that name. This is a conflict too. */
export const isAlreadyExists = (error: unknown): boolean => kubeErrorOf(error)?.reason === 'AlreadyExists';

/** The server sent more than the operator reads, or holds of one cluster. A retry without a change cannot succeed. */
export function tooLarge(message: string): KubeError {
  return new KubeError(message, { code: 0, reason: 'TooLarge' });
}

/** The server sent more than the operator reads or holds. */
export const isTooLarge = (error: unknown): boolean => kubeErrorOf(error)?.reason === 'TooLarge';

/** Nothing has arrived on a watch for longer than a server is silent. */
export const isSilent = (error: unknown): boolean => kubeErrorOf(error)?.reason === 'Silent';

/** No server has answered, or only something in front of one, or one that cannot work yet. */
export function isUnreachable(error: unknown): boolean {
  const { code, reason = '' } = kubeErrorOf(error) ?? {};
  return code === 0 ? ['Unreachable', 'Timeout'].includes(reason) : code !== undefined && code >= 500;
}

/** The server has more requests than it takes, or starts. */
export const isTooMany = (error: unknown): boolean => hasCode(error, 429);

/** The requested resourceVersion is compacted: list again. */
export const isGone = (error: unknown): boolean => hasCode(error, 410);

/** The identity of the client has no permission. */
export const isForbidden = (error: unknown): boolean => hasCode(error, 403);

/** The identity of the client lacks a right, whatever the object contains. */
export const isMissingRight = (error: unknown): boolean =>
  isForbidden(error) && / cannot [a-z]{1,20} (resource|path) "/.test(kubeErrorOf(error)?.message ?? '');

/** Nothing can be created in a namespace that is being deleted. */
export const isNamespaceEnding = (error: unknown): boolean =>
  kubeErrorOf(error)?.causes.some(({ reason }) => reason === 'NamespaceTerminating') ?? false;

/** The object violates its schema or a validation rule: a retry without a change cannot succeed. */
export function isInvalid(error: unknown): boolean {
  return hasCode(error, 422) || hasCode(error, 400) || kubeErrorOf(error)?.reason === 'Invalid';
}

/** What an API server says of a webhook that denies a request with any code, or that fails closed because it cannot be reached. */
function speaksOfWebhook(message: string): boolean {
  const isDenied = message.includes('admission webhook "') && message.includes('" denied the request');
  return isDenied || message.includes('failed calling webhook');
}

/** The server refuses to store this object: its content, a quota, a policy, a webhook, or a right of the operator is the reason. */
export function isRefusal(error: unknown): boolean {
  return isForbidden(error) || isInvalid(error) || speaksOfWebhook(kubeErrorOf(error)?.message ?? '');
}

/** Requests for other objects fail, too: the server is unreachable, and no webhook has refused this object alone. */
export const isOutage = (error: unknown): boolean => isUnreachable(error) && !isRefusal(error);
