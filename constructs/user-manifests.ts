import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { commented } from './cluster/manifest.ts';
import { renderControlPlane } from './control-plane/chart.ts';
import type { DistributionFile, SampleFile } from './distribution.ts';
import { readSample } from './sample.ts';
import { renderWorkload } from './workload/chart.ts';

/** Where the objects of a control plane are. */
export type Place = 'management' | 'hosted';

/**
 * The objects that a user's file of a Cluster and its HostedControlPlane becomes, as YAML. Addresses that only a management
 * cluster knows are examples.
 * @throws when one of both is missing or invalid
 */
export function renderUserFile({ name, content }: SampleFile, place: Place): string {
  const { cluster, facts } = readSample(parseAllDocuments(content).map((document): unknown => document.toJS()));
  const edit = 'Rendered from that file: edit it instead. Addresses from 192.0.2.0/24 and 2001:db8::/32 are examples.';
  if (place === 'hosted') {
    return commented([`All objects of ${name}.yaml in the hosted cluster.`, edit], renderWorkload(cluster, facts));
  }
  const purpose = [
    `All objects of ${name}.yaml in the management cluster, except Secrets:`,
    'the operator generates keys and certificates, and never renders them.',
  ];
  return commented([...purpose, edit], renderControlPlane(cluster, facts));
}

/** What synth writes for the YAML files of a folder. @throws with the name of the file that is invalid */
export async function renderUserFolder(directory: string): Promise<DistributionFile[]> {
  const files = (await readdir(directory)).filter((file) => /\.ya?ml$/.test(file)).sort();
  if (files.length === 0)
    throw new Error(`${directory} has no YAML files: add one with a Cluster and its HostedControlPlane`);
  const rendered = files.map(async (file) => {
    const name = nameOf(file);
    const given = { name, content: await readFile(join(directory, file), 'utf8') };
    try {
      return [
        { path: `${name}.k8s.yaml`, content: renderUserFile(given, 'management') },
        { path: `${name}.hosted.k8s.yaml`, content: renderUserFile(given, 'hosted') },
      ];
    } catch (cause) {
      throw new Error(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  });
  return (await Promise.all(rendered)).flat();
}

/** The name of a file without its ending. */
export function nameOf(file: string): string {
  return file.replace(/^.*\//, '').replace(/\.ya?ml$/, '');
}
