import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import { HostedControlPlane, type Resource } from '../../constructs/api/resources.ts';
import { type Command, hasSwitch, type Session, UsageError } from './command.ts';
import { overviewOf } from './overview.ts';
import { page } from './report/page.ts';
import { causesOf } from './status/causes.ts';
import { type Reader, gather, readingEvidence } from './status/evidence.ts';
import type { Selection } from '../kube/client-options.ts';
import type { KubeObject, ObjectName } from '../kube/object.ts';

const everywhere = 'the same of all namespaces, with -A';

/** Writes a page about a fleet, which a person opens without a server, keeps and passes on. */
export const report: Command = {
  name: 'report',
  examples: [
    ['report -A > fleet.html', 'all control planes that you may list'],
    ['report -n team-a > team-a.html', 'all of one namespace'],
  ],
  usage: '[-A] > FILE.html',
  summary: 'Prints a page about control planes: the worst first, bring-ups, components, workers, certificates.',
  options: {
    'all-namespaces': { type: 'boolean', short: 'A', meaning: 'report on control planes of all namespaces' },
  },
  access: [
    { resource: HostedControlPlane, verbs: ['list'], why: 'control planes of one namespace' },
    ...readingEvidence,
    { resource: HostedControlPlane, verbs: ['list'], why: everywhere, where: 'cluster' },
    ...readingEvidence
      .filter(({ where }) => where === undefined)
      .map((access) => ({ ...access, why: everywhere, where: 'cluster' as const })),
  ],
  prepare(given) {
    const { positionals } = given;
    if (positionals.length > 0) throw new UsageError(`report takes no arguments: remove ${positionals.join(' ')}`);
    return (session) => print(session, hasSwitch(given, 'all-namespaces') ? undefined : session.namespace);
  },
};

async function print(session: Session, namespace: string | undefined): Promise<void> {
  const now = session.now();
  const client = new ReadOnce(session.client, namespace);
  const { items } = await session.client.list<HostedControlPlaneObject>(HostedControlPlane, { namespace });
  const fleet = await Promise.all(
    items.map(async (object) => {
      const { evidence, workers, unknown } = await gather({ client, namespace: namespaceOf(object) }, object);
      return { ...overviewOf(object), causes: causesOf(evidence, now), workers, unknown };
    }),
  );
  session.terminal.print(page(fleet, { now, namespace }));
}

function namespaceOf({ metadata: { namespace = '' } }: HostedControlPlaneObject): string {
  return namespace;
}

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
