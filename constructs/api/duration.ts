import { textOf } from './validation-rule.ts';

const units = '[nuµm]s|[smh]';

// Not literals: one character in them that is not ASCII doubles the memory of the whole bundle.
const form = `^([0-9]+([.][0-9]+)?(${units}))+$`;
const pattern = new RegExp(form);
const part = new RegExp(`([0-9.]+)(${units})`, 'g');

/** A Go duration such as `8760h` or `1h30m`. The largest unit is the hour. */
export const Duration = textOf(form, 32, 'must be a duration such as 1h30m, without days');

/**
 * CEL: a rule that reads these durations, and is true of a text that is none, about which another rule has the sentence. A rule that cannot
 * be evaluated is not passed over for a value that was stored before it.
 */
export function ifDurations(paths: readonly string[], rule: string): string {
  const [path = ''] = paths;
  const isNone = (text: string) => `!${text}.matches('${form}')`;
  const given = paths.map((one) => one.replace('.', '.?')).join(',?');
  return `${path === 'self' ? isNone(path) : `[?${given}].exists(d,${isNone('d')})`} || ${rule}`;
}

const secondsPerUnit: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};

/** Whether the text is a Go duration. */
export function isDuration(text: string): boolean {
  return pattern.test(text);
}

/** Seconds of a Go duration. Throws for any other text. */
export function durationSeconds(duration: string): number {
  if (!pattern.test(duration)) {
    throw new Error(`"${duration}" is not a duration: write it in units, such as 8760h or 1h30m`);
  }
  let seconds = 0;
  for (const [, number, unit = ''] of duration.matchAll(part)) {
    seconds += Number(number) * (secondsPerUnit[unit] ?? 0);
  }
  return seconds;
}
