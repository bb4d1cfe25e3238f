/** The result of the first check in a chain that has one. A check that returns undefined leaves the decision to the next. */
export function firstMatch<Inputs extends readonly unknown[], Result>(
  checks: readonly ((...inputs: Inputs) => Result | undefined)[],
  ...inputs: Inputs
): Result | undefined {
  for (const check of checks) {
    const result = check(...inputs);
    if (result !== undefined) return result;
  }
  return undefined;
}
