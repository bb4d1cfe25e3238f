import { stringify } from 'yaml';
import { type CommandOption, type ParsedArguments, textOption, UsageError } from './command.ts';

const formats: Readonly<Record<string, (shape: object) => string>> = {
  json: (shape) => JSON.stringify(shape, undefined, 2),
  yaml: (shape) => stringify(shape).trimEnd(),
};

/**
 * The option of every command that reads. What it prints has its shape where that is declared: fields may be added, and existing fields
 * never change their meaning. It has no secret.
 * @param more formats of the command itself, with what they do
 */
export function outputOption(more?: { readonly values: string; readonly meaning: string }): CommandOption {
  return {
    type: 'string',
    short: 'o',
    value: ['json|yaml', ...(more ? [more.values] : [])].join('|'),
    meaning: ['print JSON or YAML', ...(more ? [more.meaning] : [])].join('; or '),
  };
}

/** What `-o` chooses; undefined for what people read. @param own formats of the command itself @throws UsageError */
export function outputOf(given: ParsedArguments, own: readonly string[] = []): string | undefined {
  const output = textOption(given, 'output');
  const known = [...Object.keys(formats), ...own];
  if (output === undefined || known.includes(output)) return output;
  throw new UsageError(`-o must be one of ${known.join(', ')}, not "${output}"`);
}

/** What programs read, or the lines for people. */
export function printed(output: string | undefined, shape: object, lines: () => readonly string[]): readonly string[] {
  const format = output === undefined ? undefined : formats[output];
  return format ? [format(shape)] : lines();
}
