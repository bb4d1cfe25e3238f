import { parseAllDocuments } from 'yaml';
import { renderControlPlane } from './control-plane/chart.ts';
import { manifest } from './cluster/manifest.ts';
import { renderProvider } from './provider/chart.ts';
import { renderMetadata } from './provider/metadata.ts';
import { readSample } from './sample.ts';
import { renderWorkload } from './workload/chart.ts';

/** One file of `dist/`. */
export interface DistributionFile {
  /** Path below `dist/`. */
  readonly path: string;
  readonly content: string;
}

/** A user's YAML file with a Cluster and its HostedControlPlane. */
export interface SampleFile {
  /** Name of the file without `.yaml`. */
  readonly name: string;
  readonly content: string;
}

/** Every file of `dist/`. The same samples give the same bytes. */
export function renderDistribution(samples: readonly SampleFile[]): DistributionFile[] {
  return [
    {
      path: 'control-plane-components.yaml',
      content: manifest(['The installation: `kubectl apply -f` it, or let clusterctl do it.'], renderProvider()),
    },
    {
      path: 'metadata.yaml',
      content: manifest(['What clusterctl must know about releases of this provider.'], [renderMetadata()]),
    },
    ...samples.flatMap(renderSample),
  ];
}

function renderSample({ name, content }: SampleFile): DistributionFile[] {
  const { cluster, facts } = readSample(parseAllDocuments(content).map((document): unknown => document.toJS()));
  return [
    {
      path: `samples/${name}.k8s.yaml`,
      content: manifest(
        [
          `Everything that test/clusters/${name}.yaml becomes in the management cluster, apart from Secrets:`,
          'keys and certificates are made by the operator and never rendered.',
        ],
        renderControlPlane(cluster, facts),
      ),
    },
    {
      path: `samples/${name}.hosted.k8s.yaml`,
      content: manifest(
        [`Everything that test/clusters/${name}.yaml puts into the hosted cluster itself.`],
        renderWorkload(cluster, facts),
      ),
    },
  ];
}
