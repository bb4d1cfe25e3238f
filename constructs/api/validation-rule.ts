import type { z } from 'zod';

/** One CEL rule of the CRD, with the same check for objects that are read without an API server. */
export interface ValidationRule<T> {
  /** CEL; `self` is the value the rule is attached to, `oldSelf` its previous state. */
  readonly rule: string;
  /** What is wrong and what to do, for the user. */
  readonly message: string;
  /** CEL that yields the message when the given values help; `message` stays the fallback. */
  readonly messageExpression?: string;
  /** JSON path below `self` the error points at, such as `.exposure`. */
  readonly fieldPath?: string;
  /** Lets a rule see creation too: `oldSelf` becomes an optional. */
  readonly optionalOldSelf?: true;
  /** The same check without a server; absent for rules that compare with the previous state. */
  readonly holds?: (value: T) => boolean;
}

/** Attaches rules to a schema: as CEL for the API server and, where they need no previous state, as checks of `parse`. */
export function withRules<S extends z.ZodType>(schema: S, rules: readonly ValidationRule<z.output<S>>[]): S {
  let checked = schema;
  for (const { holds, message, fieldPath } of rules) {
    if (!holds) continue;
    checked = checked.refine(holds, {
      message,
      ...(fieldPath && { path: fieldPath.split('.').slice(1) }),
      // Like the API server: a rule is not asked about a value that is broken already.
      when: ({ issues }) => issues.length === 0,
    });
  }
  return checked.meta({ ...schema.meta(), 'x-kubernetes-validations': rules.map(celRule) });
}

/** The part of a rule that goes into the CRD. */
export function celRule({ rule, message, messageExpression, fieldPath, optionalOldSelf }: ValidationRule<never>) {
  return {
    rule,
    message,
    ...(messageExpression && { messageExpression }),
    ...(fieldPath && { fieldPath }),
    ...(optionalOldSelf && { optionalOldSelf }),
  };
}
