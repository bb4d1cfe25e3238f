import { parseAllDocuments } from 'yaml';
import { renderControlPlane } from './control-plane/chart.ts';
import { manifest } from './cluster/manifest.ts';
import { renderProvider } from './provider/chart.ts';
import { releaseFiles } from './provider/repository.ts';
import { renderTenants } from './provider/tenants.ts';
import { readSample } from './sample.ts';
import { stackFiles } from './stacks/stacks.ts';
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

/** Occurs nowhere else in the installation, so that a text editor can replace it. */
const sampleNamespace = 'the-only-namespace';

/** Every file of `dist/`. The output is deterministic: the same samples give the same bytes. */
export function renderDistribution(samples: readonly SampleFile[]): DistributionFile[] {
  return [
    ...releaseFiles(),
    {
      path: 'one-namespace.yaml',
      content: manifest(
        [
          `The installation for the HostedControlPlanes of one namespace, here ${sampleNamespace}, which must exist: replace that`,
          'name. In all other namespaces the operator reads only what control planes share.',
        ],
        renderProvider({ watchNamespace: sampleNamespace }),
      ),
    },
    {
      path: 'tenants.yaml',
      content: manifest(
        [
          'What a platform gives to tenants who create HostedControlPlanes: a role to bind in their namespaces, and a sample of',
          'a policy on images, mounted Secrets and host names. Not part of the installation: change it and apply it yourself.',
        ],
        renderTenants(),
      ),
    },
    ...samples.flatMap(renderSample),
    ...stackFiles().map(({ path, content }) => ({ path: `stacks/${path}`, content })),
  ];
}

function renderSample({ name, content }: SampleFile): DistributionFile[] {
  const { cluster, facts } = readSample(parseAllDocuments(content).map((document): unknown => document.toJS()));
  return [
    {
      path: `samples/${name}.k8s.yaml`,
      content: manifest(
        [
          `All objects of test/clusters/${name}.yaml in the management cluster, except Secrets:`,
          'the operator generates keys and certificates, and never renders them.',
        ],
        renderControlPlane(cluster, facts),
      ),
    },
    {
      path: `samples/${name}.hosted.k8s.yaml`,
      content: manifest(
        [`All objects of test/clusters/${name}.yaml in the hosted cluster.`],
        renderWorkload(cluster, facts),
      ),
    },
  ];
}
