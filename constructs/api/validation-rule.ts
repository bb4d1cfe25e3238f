import type { z } from 'zod';

/** One CEL rule of the CRD, and the same check for objects that are read without an API server. */
export interface ValidationRule<T> {
  /** CEL expression. `self` is the value that the rule is attached to, `oldSelf` its previous state. */
  readonly rule: string;
  /** Message for the user: what is wrong and what to do. */
  readonly message: string;
  /** CEL expression that evaluates to a message with the actual values; `message` is the fallback. */
  readonly messageExpression?: string;
  /** JSON path below `self` that the error refers to, such as `.exposure`. */
  readonly fieldPath?: string;
  /** Applies the rule to creation too: `oldSelf` becomes an optional. */
  readonly optionalOldSelf?: true;
  /** The same check without an API server; absent for rules that compare with the previous state. */
  readonly holds?: (value: T) => boolean;
}

/**
 * Attaches rules to a schema: as CEL for the API server and, for rules that need no previous state, as checks of
 * `parse`.
 */
export function withRules<S extends z.ZodType>(schema: S, rules: readonly ValidationRule<z.output<S>>[]): S {
  let checked = schema;
  for (const { holds, message, fieldPath } of rules) {
    if (!holds) continue;
    checked = checked.refine(holds, {
      message,
      ...(fieldPath && { path: fieldPath.split('.').slice(1) }),
      // Like the API server: rules are not evaluated for a value that is already invalid.
      when: ({ issues }) => issues.length === 0,
    });
  }
  return checked.meta({ ...schema.meta(), 'x-kubernetes-validations': rules.map(celRule) });
}

/** The part of a rule that the CRD contains. */
export function celRule({ rule, message, messageExpression, fieldPath, optionalOldSelf }: ValidationRule<never>) {
  return {
    rule,
    message,
    ...(messageExpression && { messageExpression }),
    ...(fieldPath && { fieldPath }),
    ...(optionalOldSelf && { optionalOldSelf }),
  };
}
