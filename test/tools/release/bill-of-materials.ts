import manifest from '../../../package.json' with { type: 'json' };
import { repository } from '../testbed/operator-bundle.ts';
import { run } from '../testbed/run.ts';
import type { ForeignNode } from './node.ts';
import { identifierOf } from './identifier.ts';
import type { Source } from './source.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

interface BillOfMaterials {
  serialNumber: string;
  metadata: { timestamp: string; component: { name: string } };
  components: Component[];
}

/**
 * What the images and programs of a release consist of, in CycloneDX: libraries of npm, Node, and packages of Debian. npm
 * writes its part.
 */
export async function billOfMaterials(source: Source, nodes: readonly ForeignNode[]): Promise<string> {
  const command = [
    'npm',
    'sbom',
    '--sbom-format=cyclonedx',
    '--omit=dev',
    '--omit=optional',
    '--package-lock-only',
  ] as const;
  const bill = JSON.parse(await run(command, { cwd: repository })) as BillOfMaterials;
  // npm writes the name of the folder, the time and a random number.
  bill.metadata.component.name = manifest.name;
  bill.metadata.timestamp = source.date;
  bill.components.push(
    ...nodes.slice(0, 1).map(nodeComponent),
    ...nodes.flatMap(({ packages }) => packages.map(debianComponent)),
  );
  bill.serialNumber = `urn:uuid:${identifierOf(JSON.stringify(bill.components))}`;
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

function nodeComponent({ version }: ForeignNode): Component {
  const purl = `pkg:generic/nodejs@${version}`;
  return { 'bom-ref': purl, type: 'application', name: 'node', version, purl };
}

function debianComponent({ name, version, architecture, sha256 }: ForeignNode['packages'][number]): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
  return { 'bom-ref': purl, type: 'library', name, version, purl, hashes: [{ alg: 'SHA-256', content: sha256 }] };
}
