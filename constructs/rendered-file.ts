import { parseAllDocuments } from 'yaml';
import { commented } from './cluster/manifest.ts';
import { renderControlPlane } from './control-plane/chart.ts';
import { readSample, withRestores } from './sample.ts';
import { renderWorkload } from './workload/chart.ts';

/** Where the objects of a control plane are. */
export type Place = 'management' | 'hosted';

/** A YAML file with a Cluster and its HostedControlPlane. */
export interface ClusterFile {
  /** As the comment of what it becomes names it. */
  readonly file: string;
  readonly content: string;
  /** The last line of that comment: where a reader changes it. */
  readonly edit?: string;
}

const editTheFile =
  'Rendered from that file: edit it instead. Addresses from 192.0.2.0/24 and 2001:db8::/32 are examples.';

/**
 * All objects that a file becomes in one place, as YAML. Addresses that only a management cluster knows are examples.
 * @throws when the file is no YAML, or one of both objects is missing or invalid
 */
export function renderFile({ file, content, edit = editTheFile }: ClusterFile, place: Place): string {
  const { cluster, facts, exampleGateway } = readSample(documentsIn(content));
  const example =
    exampleGateway === undefined
      ? []
      : [
          `It does not have Gateway ${exampleGateway}: hosts below example.com are examples. Add the Gateway for your own.`,
        ];
  if (place === 'hosted') {
    return commented(
      [`All objects of ${file} in the hosted cluster.`, edit, ...example],
      renderWorkload(cluster, facts),
    );
  }
  const purpose = [
    `All objects of ${file} in the management cluster, except Secrets:`,
    'the operator generates keys and certificates, and never renders them.',
  ];
  return commented([...purpose, edit, ...example], renderControlPlane(cluster, facts));
}

/** Every image that the control plane of a file may run, with those that verify and restore its backups, in both clusters: sorted. */
export function imagesOf(content: string): readonly string[] {
  const { cluster, facts } = readSample(documentsIn(content));
  const all = withRestores(facts);
  const objects = [...renderControlPlane(cluster, all), ...renderWorkload(cluster, all)];
  return [...new Set(imagesIn(objects))].sort();
}

/** The images of containers anywhere in a value. */
function imagesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(imagesIn);
  return Object.entries(value).flatMap(([name, field]) =>
    name === 'image' && typeof field === 'string' ? [field] : imagesIn(field),
  );
}

/** The documents of a YAML file. @throws for the first error in it */
export function documentsIn(content: string): unknown[] {
  return parseAllDocuments(content).map((document): unknown => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS();
  });
}
