import type { Resource } from '../../../constructs/api/resources.ts';
import type { Selection } from '../../kube/client-options.ts';
import type { KubeObject, ObjectName } from '../../kube/object.ts';
import type { Reader } from '../status/evidence.ts';

/**
 * Reads each kind once for a whole fleet, and answers every control plane from that: the number of requests does not grow with
 * the fleet. It is for one report, because it forgets nothing.
 */
export class ReadOnce implements Reader {
  readonly #client: Reader;
  readonly #namespace: string | undefined;
  readonly #lists = new Map<string, Promise<ReadonlyMap<string, readonly KubeObject[]>>>();
  readonly #objects = new Map<string, Promise<KubeObject>>();

  /** @param namespace of all control planes of the report; undefined for all namespaces */
  constructor(client: Reader, namespace: string | undefined) {
    this.#client = client;
    this.#namespace = namespace;
  }

  get: Reader['get'] = <T extends KubeObject>(resource: Resource, name: ObjectName) => {
    const key = `${kindOf(resource)} ${name.namespace}/${name.name}`;
    return once(this.#objects, key, () => this.#client.get(resource, name)) as Promise<T>;
  };

  list: Reader['list'] = async <T extends KubeObject>(resource: Resource, selection: Selection | undefined) => {
    const { labelSelector, fieldSelector, namespace } = selection ?? {};
    // Events of one Gateway, which is in another namespace, are few: they are asked for as they are.
    if (fieldSelector !== undefined) {
      const key = `${kindOf(resource)} ${namespace} ${fieldSelector}`;
      const found = await once(this.#lists, key, () => this.#grouped(resource, selection ?? {}, undefined));
      return { items: [...found.values()].flat() as unknown as T[], resourceVersion: '' };
    }
    const [label, value = ''] = labelSelector?.split('=') ?? [];
    const wanted = { labelSelector: label, namespace: this.#namespace };
    const found = await once(this.#lists, `${kindOf(resource)} ${label}`, () => this.#grouped(resource, wanted, label));
    const items = namespace === undefined ? [...found.values()].flat() : (found.get(`${namespace} ${value}`) ?? []);
    return { items: items as unknown as T[], resourceVersion: '' };
  };

  /** The objects by namespace and value of a label. */
  async #grouped(resource: Resource, selection: Selection, label: string | undefined) {
    const { items } = await this.#client.list(resource, selection);
    return Map.groupBy(
      items,
      ({ metadata: { namespace, labels } }) => `${namespace} ${label === undefined ? '' : (labels?.[label] ?? '')}`,
    );
  }
}

function kindOf({ apiVersion, kind }: Resource): string {
  return `${apiVersion} ${kind}`;
}

function once<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? read();
  known.set(key, found);
  return found;
}
