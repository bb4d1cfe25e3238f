import { CustomResourceDefinition } from './api/resources.ts';
import { editTheConstructs, manifest } from './cluster/manifest.ts';
import { renderArgoCD } from './provider/argo-cd.ts';
import { templatePath } from './helm/chart.ts';
import { renderProvider } from './provider/chart.ts';
import { providerChartFiles } from './provider/helm/chart.ts';
import { managerImage } from './provider/image.ts';
import { releaseFiles } from './provider/repository.ts';
import { renderDashboards } from './provider/monitoring/dashboards.ts';
import { renderMonitoring } from './provider/monitoring/chart.ts';
import { renderTenants } from './provider/tenants.ts';
import { renderFile } from './rendered-file.ts';
import { newestMinor, renderedMinors } from './stacks/openstack/minors.ts';
import { stackFiles } from './stacks/stacks.ts';

/** One file of `dist/`. */
export interface DistributionFile {
  /** Path below `dist/`. */
  readonly path: string;
  readonly content: string;
}

/** A YAML file with a Cluster and its HostedControlPlane. */
export interface SampleFile {
  /** Name of the file without `.yaml`. */
  readonly name: string;
  readonly content: string;
}

/**
 * Who reads the files: reviewers of a change need each definition of a kind once, and have it in
 * `control-plane-components.yaml`, and the stack of one minor; users of a release install each file alone, and
 * have every minor.
 */
export type Readers = 'reviewers' | 'users';

/** No other object of the installation has this label, by which clusterctl finds the definitions of kinds. */
const definitionsElsewhere = [
  'The CRDs are in control-plane-components.yaml. Install them before this file: apply that one with the option',
  '`--selector clusterctl.cluster.x-k8s.io`, which leaves out all other objects. This file of a release has them.',
];

/** Occurs nowhere else in the installation, so that a text editor can replace it. */
const sampleNamespace = 'the-only-namespace';

/** Every file of `dist/`. The output is deterministic: the same samples give the same bytes. */
export function renderDistribution(samples: readonly SampleFile[]): DistributionFile[] {
  return [
    ...renderInstallation(managerImage, 'reviewers'),
    ...samples.flatMap(renderSample),
    ...providerChartFiles(managerImage)
      .filter(({ path }) => path !== templatePath(CustomResourceDefinition.kind))
      .map(({ path, content }) => ({ path: `chart/${path}`, content })),
  ];
}

/** What a platform installs, apart from the Helm chart. @param image the operator's image */
export function renderInstallation(image: string, readers: Readers): DistributionFile[] {
  return [
    ...releaseFiles(image),
    {
      path: 'one-namespace.yaml',
      content: manifest(
        [
          `The installation for the HostedControlPlanes of one namespace, here ${sampleNamespace}, which must exist: replace that`,
          'name. In all other namespaces the operator reads only what control planes share.',
          ...(readers === 'reviewers' ? definitionsElsewhere : []),
        ],
        renderProvider({ image, watchNamespace: sampleNamespace }).filter(
          ({ kind }) => readers === 'users' || kind !== CustomResourceDefinition.kind,
        ),
      ),
    },
    {
      path: 'kustomization.yaml',
      content: manifest(
        [
          'A base for Kustomize: name this folder as a resource of your own kustomization, and change image, settings or',
          'placement there. `kubectl apply --server-side -k` installs the provider as it is.',
        ],
        [
          {
            apiVersion: 'kustomize.config.k8s.io/v1beta1',
            kind: 'Kustomization',
            resources: ['control-plane-components.yaml'],
          },
        ],
      ),
    },
    {
      path: 'monitoring.yaml',
      content: manifest(
        [
          'What Prometheus scrapes of the operator, and its alerts, as objects of the Prometheus Operator. Not part of the',
          'installation: apply it where those kinds are installed.',
        ],
        renderMonitoring(),
      ),
    },
    {
      path: 'argo-cd.yaml',
      content: manifest(
        [
          'How Argo CD finds the health of a HostedControlPlane. Not part of the installation: merge it into the ConfigMap of your',
          'Argo CD, for example by kubectl apply --server-side.',
        ],
        renderArgoCD(),
      ),
    },
    {
      path: 'tenants.yaml',
      content: manifest(
        [
          'What a platform gives to tenants who create HostedControlPlanes: a role to bind in their namespaces, a sample of a',
          'policy on images, mounted Secrets and host names, and a sample of a quota, which each of their namespaces needs. Not',
          'part of the installation: change it and apply it yourself.',
        ],
        renderTenants(),
      ),
    },
    ...renderDashboards().map(({ path, dashboard }) => ({
      path: `dashboards/${path}`,
      content: `${JSON.stringify(dashboard, undefined, 2)}\n`,
    })),
    ...stackFiles(readers === 'users' ? renderedMinors : [newestMinor]).map(({ path, content }) => ({
      path: `stacks/${path}`,
      content,
    })),
  ];
}

function renderSample({ name, content }: SampleFile): DistributionFile[] {
  const sample = { file: `test/clusters/${name}.yaml`, content, edit: editTheConstructs() };
  return [
    { path: `samples/${name}.k8s.yaml`, content: renderFile(sample, 'management') },
    { path: `samples/${name}.hosted.k8s.yaml`, content: renderFile(sample, 'hosted') },
  ];
}

/** What synth writes for the files of users. @throws with the name of the file that is invalid */
export function renderUserFiles(files: readonly SampleFile[]): DistributionFile[] {
  return files.flatMap(({ name, content }) => {
    const file = `${name}.yaml`;
    try {
      return [
        { path: `${name}.k8s.yaml`, content: renderFile({ file, content }, 'management') },
        { path: `${name}.hosted.k8s.yaml`, content: renderFile({ file, content }, 'hosted') },
      ];
    } catch (cause) {
      throw new Error(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  });
}
