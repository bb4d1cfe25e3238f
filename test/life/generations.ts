import type { Instance } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';

const columns = '{range .items[*]}{.kind} {.metadata.name}\t{.metadata.generation}\n{end}';

/** The generation of each object of a namespace whose kind counts them, by its kind and name. */
export async function generationsIn(instance: Instance, namespace: string): Promise<Map<string, string>> {
  const known = await kubectl(instance, ['api-resources', '--namespaced', '--verbs=list', '--output=name']);
  const kinds = known.trim().split('\n').join(',');
  const listed = await kubectl(instance, ['get', kinds, '--namespace', namespace, `--output=jsonpath=${columns}`]);
  const rows = listed.split('\n').map((line) => line.split('\t'));
  return new Map(rows.flatMap(([object = '', generation = '']) => (generation === '' ? [] : [[object, generation]])));
}
