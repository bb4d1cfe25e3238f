/** Arguments of a bench that measures some parts as little as possible. */
export function smokeOf(parts: readonly string[]): readonly string[] {
  return ['--smoke', ...parts.flatMap((part) => ['--only', part])];
}

/** The parts that a bench with this output has not measured. */
export function unmeasuredIn(output: string, parts: readonly string[]): string[] {
  return parts.filter((part) => !new RegExp(` s  ${part}$`, 'm').test(output));
}
