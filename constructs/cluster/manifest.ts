import { Yaml } from 'cdk8s';

/**
 * A YAML file of objects. Its header says what the file is and which command writes it.
 * @param writtenBy the script of package.json. @default synth
 */
export function manifest(purpose: readonly string[], objects: readonly object[], writtenBy = 'synth'): string {
  return commented([...purpose, editTheConstructs(writtenBy)], objects);
}

/** The last line of a generated file's comment. @param script of package.json that writes it */
export function editTheConstructs(script = 'synth'): string {
  return `Written by \`npm run ${script}\`; edit the constructs instead.`;
}

/** A YAML file of objects below a comment. */
export function commented(header: readonly string[], objects: readonly object[]): string {
  return `${header.map((line) => `# ${line}`).join('\n')}\n${Yaml.stringify(...objects.map(readable))}`;
}

/** Keys that come first, because readers need them first. All other keys keep their alphabetical order. */
const first = ['apiVersion', 'kind', 'metadata', 'name', 'namespace'];

/** A copy whose mappings begin with their identity: a container with its name, not with its arguments. */
function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, readable(member)] as const);
  const rank = (key: string) => (first.includes(key) ? first.indexOf(key) : first.length);
  return Object.fromEntries(entries.sort(([a], [b]) => rank(a) - rank(b)));
}
