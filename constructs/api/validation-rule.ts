import { z } from 'zod';

/** One CEL rule of the CRD, and the same check for objects that are read without an API server. */
export interface ValidationRule<T> {
  /** CEL expression. `self` is the value that the rule is attached to, `oldSelf` its previous state. */
  readonly rule: string;
  /** Message for the user: what is wrong and what to do. */
  readonly message: string;
  /** CEL expression that evaluates to a message with the actual values, which takes the place of `message` in an API server. */
  readonly messageExpression?: string;
  /** JSON path below `self` that the error refers to, such as `.exposure`. */
  readonly fieldPath?: string;
  /** Applies the rule to creation too: `oldSelf` becomes an optional. */
  readonly optionalOldSelf?: true;
  /** The same check without an API server; absent for rules that compare with the previous state. */
  readonly holds?: (value: T) => boolean;
}

const partsBelow = 'partsBelow';

/** The path of the value that a failed check is about; the issue itself may name a field of that. */
export function checkedPath({ path, ...issue }: z.core.$ZodIssue): readonly PropertyKey[] {
  const { [partsBelow]: below = 0 } = ('params' in issue ? issue.params : undefined) ?? {};
  return path.slice(0, path.length - Number(below));
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
      params: { [partsBelow]: (fieldPath ?? '').split('.').length - 1 },
      // Like the API server: rules are not evaluated for a value that is already invalid.
      when: ({ issues }) => issues.length === 0,
    });
  }
  const { 'x-kubernetes-validations': earlier, ...meta } = schema.meta() ?? {};
  const validations = [...(Array.isArray(earlier) ? earlier : []), ...rules.map(celRule)];
  return checked.meta({ ...meta, 'x-kubernetes-validations': validations });
}

/** A text of a form: the API server answers with the sentence, where it would show the regular expression. */
export function textOf(pattern: string, longest: number, message: string) {
  const rule = { rule: `self.matches('${pattern}')`, message, holds: (text: string) => new RegExp(pattern).test(text) };
  return withRules(z.string().max(longest), [rule]);
}

/** The part of a rule that the CRD contains. */
export function celRule({ rule, message, messageExpression, fieldPath, optionalOldSelf }: ValidationRule<never>) {
  return {
    rule,
    // Not both: kubectl writes the whole definition into an annotation, which has a limit.
    ...(messageExpression ? { messageExpression } : { message }),
    ...(fieldPath && { fieldPath }),
    ...(optionalOldSelf && { optionalOldSelf }),
  };
}
