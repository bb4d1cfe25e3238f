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
  /** More versions that are served, and of which it does not matter whether they can be read. By default none. */
  readonly unread?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  /** How objects are converted between versions. By default only their apiVersion differs. */
  readonly conversion?: object;
  /** By default objects hold anything. */
  readonly schema?: object;
}

/** Installs a kind as its own project would, in some of its versions, and resolves when these are served. */
export async function installDefinition(
  client: KubeClient,
  resource: Resource,
  { served, unread = [], labels = {}, schema = anything, conversion = { strategy: 'None' } }: DefinitionOptions,
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
      conversion,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: [...unread, ...served].map((name) => ({
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
