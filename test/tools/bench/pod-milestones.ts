import { Pod } from '../../../constructs/api/resources.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { type ComponentName, componentLabel } from '../../../constructs/cluster/labels.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { PodInState } from '../../support/pod-states.ts';
import { type Figure, median } from './figure.ts';

/** Milliseconds from the apply until what a bring-up waits for in series. */
export interface Milestones {
  readonly ownerNamed: number;
  /** The first container of etcd runs. */
  readonly etcdRuns: number;
  /** API servers in the order in which they became ready. */
  readonly apiServersReady: readonly number[];
  /** The controller manager and the scheduler are both ready. */
  readonly controllersReady: number;
  /** The most restarts of any container. */
  readonly restarts: number;
}

const controllers: readonly ComponentName[] = ['controller-manager', 'scheduler'];
/** The back-off after a second exit takes a bring-up ten seconds. */
const restartGoal = { atMost: 1 };

/** When pods of a control plane first run and are first ready. */
export class PodMilestones {
  readonly #running = new Map<string, number>();
  readonly #ready = new Map<string, { readonly component: string; readonly ms: number }>();
  readonly #restarts = new Map<string, number>();

  /** Follows the pods of a cluster until its signal. @param start a `performance.now()` */
  async follow(
    client: KubeClient,
    { namespace, cluster }: { namespace: string; cluster: string },
    start: number,
    signal: AbortSignal,
  ) {
    const selection = { namespace, labelSelector: `${clusterNameLabel}=${cluster}`, signal };
    try {
      while (!signal.aborted) {
        for await (const event of client.watch<PodInState>(Pod, selection)) {
          if (event.type !== 'BOOKMARK' && event.type !== 'DELETED') this.see(event.object, performance.now() - start);
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  see({ metadata, status }: PodInState, ms: number): void {
    const component = metadata.labels?.[componentLabel] ?? '';
    const containers = status?.containerStatuses ?? [];
    if (!this.#running.has(component) && containers.some(({ state }) => state?.running))
      this.#running.set(component, ms);
    const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
    if (isReady && !this.#ready.has(metadata.name)) this.#ready.set(metadata.name, { component, ms });
    for (const { name, restartCount } of containers) this.#restarts.set(`${metadata.name} ${name}`, restartCount);
  }

  reached(): Omit<Milestones, 'ownerNamed'> {
    const readyOf = (wanted: ComponentName) =>
      [...this.#ready.values()]
        .flatMap(({ component, ms }) => (component === wanted ? [ms] : []))
        .toSorted((a, b) => a - b);
    return {
      etcdRuns: this.#running.get('etcd') ?? Number.NaN,
      apiServersReady: readyOf('api-server'),
      controllersReady: Math.max(...controllers.map((component) => readyOf(component)[0] ?? Number.NaN)),
      restarts: Math.max(0, ...this.#restarts.values()),
    };
  }
}

/** What a bring-up waits for, one after the other: medians of the waits themselves. */
export function waitFigures(name: string, runs: readonly Milestones[]): Figure[] {
  const of = (value: (run: Milestones) => number) => median(runs.map(value)) / 1000;
  const first = ({ apiServersReady }: Milestones) => apiServersReady[0] ?? Number.NaN;
  const last = ({ apiServersReady }: Milestones) => apiServersReady.at(-1) ?? Number.NaN;
  const isAlone = runs.every(({ apiServersReady }) => apiServersReady.length === 1);
  return [
    { name: `${name}: wait until the owner is named`, value: of(({ ownerNamed }) => ownerNamed), unit: 's' },
    {
      name: `${name}: wait from there until etcd runs`,
      value: of(({ etcdRuns, ownerNamed }) => etcdRuns - ownerNamed),
      unit: 's',
    },
    {
      name: `${name}: wait from there until an API server is ready`,
      value: of((run) => first(run) - run.etcdRuns),
      unit: 's',
    },
    ...(isAlone
      ? []
      : [
          {
            name: `${name}: wait from the first to the last API server`,
            value: of((run) => last(run) - first(run)),
            unit: 's',
          },
        ]),
    {
      name: `${name}: wait from the first API server until the controllers are ready`,
      value: of((run) => run.controllersReady - first(run)),
      unit: 's',
    },
    { name: `${name}: first API server ready`, value: of(first), unit: 's' },
    {
      name: `${name}: most restarts of a container`,
      value: Math.max(...runs.map(({ restarts }) => restarts)),
      unit: '',
      goal: restartGoal,
    },
  ];
}
