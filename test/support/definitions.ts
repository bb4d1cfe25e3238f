import {
  CustomResourceDefinition,
  definitionName,
  groupOf,
  type Resource,
  versionOf,
} from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { until } from './until.ts';

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** What a definition of a test differs in. */
export interface DefinitionOptions {
  /** Names of the versions that are served; the last one is stored. */
  readonly served: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  /** By default objects hold anything. */
  readonly schema?: object;
}

/** Installs a kind as its own project would, in some of its versions, and resolves when these are served. */
export async function installDefinition(
  client: KubeClient,
  resource: Resource,
  { served, labels = {}, schema = anything }: DefinitionOptions,
): Promise<void> {
  const { kind, plural, namespaced } = resource;
  const group = groupOf(resource);
  const definition = {
    apiVersion: CustomResourceDefinition.apiVersion,
    kind: CustomResourceDefinition.kind,
    metadata: { name: definitionName(resource), labels, annotations: approved },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: served.map((name) => ({
        name,
        served: true,
        storage: name === served.at(-1),
        schema: { openAPIV3Schema: schema },
      })),
    },
  };
  await client.apply(definition, { fieldManager: 'test', force: true });
  for (const version of served) {
    const inVersion = { ...resource, apiVersion: `${group}/${version}` };
    await until(`${plural} in ${versionOf(inVersion)}`, () => client.list(inVersion).catch(() => undefined));
  }
}

/** The API server wants a sign that groups of Kubernetes' own projects were reviewed. */
const approved = { 'api-approved.kubernetes.io': 'unapproved, a test' };
