import { z } from 'zod';
import { CustomResourceDefinition, type Resource } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { until } from './progress.ts';

/** Applies objects of any kind, each after its prerequisites: its namespace and its kind. */
export async function applyObjects(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  const apply = (object: KubeObject): Promise<KubeObject> =>
    client.apply(object, { resource: resourceFor(object), fieldManager: 'testbed', force: true });
  const definitions = objects.filter(({ kind }) => kind === CustomResourceDefinition.kind);
  const namespaces = objects.filter(({ kind }) => kind === 'Namespace');
  const first = [...namespaces, ...definitions];
  await Promise.all(first.map(apply));
  await untilServed(client, definitions);
  await Promise.all(objects.filter((object) => !first.includes(object)).map(apply));
}

const Definition = z.object({
  spec: z.object({
    group: z.string(),
    names: z.object({ plural: z.string() }),
    versions: z.array(z.object({ name: z.string(), served: z.boolean() })),
  }),
});

const ResourceList = z.object({ resources: z.array(z.object({ name: z.string() })) });

/** Ends when discovery lists the kinds in every served version. */
async function untilServed(client: KubeClient, definitions: readonly KubeObject[]): Promise<void> {
  const kinds = definitions.map((definition) => Definition.parse(definition).spec);
  const wanted = new Map<string, string[]>();
  for (const { group, names, versions } of kinds) {
    for (const { name } of versions.filter(({ served }) => served)) {
      const path = `/apis/${group}/${name}`;
      wanted.set(path, [...(wanted.get(path) ?? []), names.plural]);
    }
  }
  for (const [path, plurals] of wanted) {
    await until({ what: `${plurals.join(', ')} in ${path}`, timeoutMs: 60_000 }, async () => {
      const { resources } = ResourceList.parse(JSON.parse(await client.raw(path)));
      const served = new Set(resources.map(({ name }) => name));
      return plurals.every((plural) => served.has(plural));
    });
  }
}

/** The kinds used here have regular plurals, and objects without a namespace are cluster-wide. */
export function resourceFor({ apiVersion, kind, metadata }: KubeObject): Resource {
  return { apiVersion, kind, plural: pluralOf(kind.toLowerCase()), namespaced: metadata.namespace !== undefined };
}

function pluralOf(word: string): string {
  if (word.endsWith('s')) return `${word}es`;
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}
