import { manifest } from '../cluster/manifest.ts';
import { providerLabelValue } from '../api/group.ts';
import { clusterctlTemplates } from '../stacks/clusterctl/files.ts';
import type { StackFile } from '../helm/chart.ts';
import { renderProvider } from './chart.ts';
import { managerImage } from './image.ts';
import { releaseVersion, seriesUntil } from './release.ts';

/** Name of this provider on clusterctl's command line. */
export const clusterctlName = 'hosted-control-plane';

const componentsFile = 'control-plane-components.yaml';

/** The files of a release, by the names that clusterctl expects: those of `dist/`, and the assets of a release on GitHub. */
export function releaseFiles(image = managerImage): readonly StackFile[] {
  return [
    {
      path: componentsFile,
      content: manifest(
        ['The installation of the provider: install it with `kubectl apply --server-side -f` or clusterctl.'],
        renderProvider({ image }),
      ),
    },
    {
      path: 'metadata.yaml',
      content: manifest(['Metadata of the releases of this provider, for clusterctl.'], [renderMetadata()]),
    },
    ...clusterctlTemplates(),
  ];
}

/** Folder of this release in a repository that clusterctl reads from a disk; each release adds one. */
export const releaseFolder = `${providerLabelValue}/v${releaseVersion}`;

/**
 * The configuration with which clusterctl finds the repository, by default its newest release.
 * @param directory absolute path of the repository, from which clusterctl takes the version and the name of the provider
 */
export function clusterctlConfiguration(directory: string): StackFile {
  const url = `file://${directory}/${providerLabelValue}/latest/${componentsFile}`;
  const provider = { name: clusterctlName, type: 'ControlPlaneProvider', url };
  return {
    path: 'clusterctl.yaml',
    content: manifest(
      ['Configuration of clusterctl: add the entry to your own, or name this file by --config.'],
      [{ providers: [provider] }],
      'release',
    ),
  };
}

/** The metadata of a release, by default this one: the contract of each series. clusterctl rejects unknown fields. */
export function renderMetadata(version = releaseVersion) {
  return {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: seriesUntil(version),
  };
}
