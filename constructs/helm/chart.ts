import { manifest } from '../cluster/manifest.ts';

/** A file of a stack or a chart, by its path below the folder of that. */
export interface StackFile {
  readonly path: string;
  readonly content: string;
}

/**
 * The objects as a template of a Helm chart. Helm leaves the braces in them alone: those of a ClusterClass are for Cluster
 * API, and those of bootstrap data for cloud-init.
 * @param expressions what Helm fills in, by the text that stands for it in the objects
 */
export function chartTemplate(
  purpose: readonly string[],
  objects: readonly object[],
  expressions: Readonly<Record<string, string>>,
): string {
  const literal = manifest(purpose, objects).replaceAll(/\{\{|\}\}/g, (braces) => `{{ \`${braces}\` }}`);
  return Object.entries(expressions).reduce(
    (text, [placeholder, expression]) => text.replaceAll(placeholder, `{{ ${expression} }}`),
    literal,
  );
}

/** The path in a chart of the template for objects of a kind: words in lower case, divided by hyphens. */
export function templatePath(kind: string): string {
  const name = kind.replaceAll(/(?<=[a-z])[A-Z]/g, (capital) => `-${capital}`).toLowerCase();
  return `templates/${name}.yaml`;
}

/** The `Chart.yaml` of a chart. */
export interface ChartDescription {
  readonly name: string;
  readonly version: string;
  readonly appVersion?: string;
  readonly description: string;
  readonly dependencies?: readonly { readonly name: string; readonly version: string; readonly repository: string }[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The `Chart.yaml` of an application chart. */
export function chartFile(description: ChartDescription): StackFile {
  return {
    path: 'Chart.yaml',
    content: manifest([description.description], [{ apiVersion: 'v2', type: 'application', ...description }]),
  };
}
