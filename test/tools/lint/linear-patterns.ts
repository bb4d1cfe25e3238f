import { isSafePattern } from 'redos-detector';

/**
 * How many ways to try again a pattern may have at one position of a text. With nested or adjacent quantifiers without an upper bound
 * they grow with the text, and the operator has one thread for all control planes.
 */
const mostBacktracks = 600;

/** A part of the syntax tree, as oxlint gives it to a plugin. */
interface Expression {
  readonly type: string;
  readonly value?: unknown;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly Expression[];
}

interface Context {
  report(problem: { readonly node: Expression; readonly message: string }): void;
}

/** Why a pattern may take longer than its text is long, as a sentence; undefined if it never does. */
export function slowness(pattern: string, flags: string): string | undefined {
  const { safe } = isSafePattern(pattern, {
    maxScore: mostBacktracks,
    unicode: flags.includes('u'),
    caseInsensitive: flags.includes('i'),
    dotAll: flags.includes('s'),
    multiLine: flags.includes('m'),
  });
  if (safe) return undefined;
  return 'this pattern may take more than linear time on a text of others: give its quantifiers an upper bound, or scan the text with indexOf';
}

function create(context: Context) {
  const check = (node: Expression, { pattern, flags }: { readonly pattern: string; readonly flags: string }): void => {
    const message = slowness(pattern, flags);
    if (message !== undefined) context.report({ node, message });
  };
  const checkMade = (node: Expression): void => {
    if (node.callee?.name !== 'RegExp') return;
    const [pattern, flags] = (node.arguments ?? []).map(({ value }) => value);
    if (typeof pattern === 'string') return check(node, { pattern, flags: typeof flags === 'string' ? flags : '' });
    context.report({
      node,
      message: 'a pattern that is put together at run time cannot be checked: write it as a literal',
    });
  };
  return {
    Literal: (node: Expression): void => {
      if (node.regex) check(node, node.regex);
    },
    NewExpression: checkMade,
    CallExpression: checkMade,
  };
}

/** A plugin of oxlint, which .oxlintrc.json names. */
export default { meta: { name: 'hcp' }, rules: { 'linear-patterns': { create } } };
