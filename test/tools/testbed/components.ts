import { clusterctlLabel } from '../../../constructs/api/group.ts';
import { CustomResourceDefinition } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { clusterApiModule, pinnedVersion } from './families.ts';
import { moduleDirectory } from './go-module.ts';
import type { Report } from './progress.ts';
import { kustomized, parseObjects, renderedOnce } from './rendered-objects.ts';

const ownFamily = 'cluster-api';

/** A manager of Cluster API. */
export interface Provider {
  /** Name of its upstream image, and of the cached image. */
  readonly name: string;
  /** Folder of Cluster API's module that kustomize renders. */
  readonly folder: string;
  /** Folder of Go modules that pins its version. Default: `cluster-api`. */
  readonly family?: string;
}

export const clusterApiCore: Provider = { name: 'cluster-api-controller', folder: 'core/config/default' };

export const kubeadmBootstrap: Provider = {
  name: 'kubeadm-bootstrap-controller',
  folder: 'bootstrap/kubeadm/config/default',
};

/** Values that differ from the defaults in the components, `${NAME:=default}`. */
const variables: Readonly<Record<string, string>> = { CLUSTER_TOPOLOGY: 'true' };

/** The objects of a provider as its own kustomize folder renders them. They are rendered once and cached. */
export async function providerComponents(
  cache: string,
  provider: Provider,
  kubectlPath: string,
  report: Report,
): Promise<KubeObject[]> {
  const version = await providerVersion(provider);
  const json = await renderedOnce(cache, `${provider.name}-${version}`, report, () => render(provider, kubectlPath));
  // variables are substituted when it is read: another value needs no other file
  return parseObjects(substitute(json, variables)).map(labelled);
}

/** The pinned version of Cluster API that a manager belongs to, such as `v1.14.2`. */
export function providerVersion({ family = ownFamily }: Provider): Promise<string> {
  return pinnedVersion(family, clusterApiModule);
}

/** A kind with the label by which clusterctl finds its objects, as clusterctl labels what it installs. */
function labelled(object: KubeObject): KubeObject {
  if (object.kind !== CustomResourceDefinition.kind) return object;
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, [clusterctlLabel]: '' } } };
}

/** Substitutes `${NAME:=default}`. */
export function substitute(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+):=([^}]*)\}/g, (_, name: string, byDefault: string) => values[name] ?? byDefault);
}

async function render({ family = ownFamily, folder }: Provider, kubectlPath: string): Promise<unknown[]> {
  return kustomized(kubectlPath, await moduleDirectory(family, clusterApiModule), folder);
}
