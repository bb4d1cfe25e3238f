import type { MachineObject, MachinePoolObject } from '../../../imports/cluster-api.ts';

/** On a Machine that a MachinePool has made: the name of that. */
const poolLabel = 'cluster.x-k8s.io/pool-name';

/** The workers of a Cluster that Cluster API has made: those that joined without it are not among them. */
export interface Workers {
  readonly total: number;
  /** Names of those whose Node is not ready, or that have none yet. */
  readonly notReady: readonly string[];
  /** Versions that their kubelets run, or shall run, each with how many. */
  readonly versions: readonly { readonly version: string; readonly count: number }[];
  /** MachinePools whose machines are no Machines. */
  readonly pools: readonly {
    readonly name: string;
    readonly ready: number;
    readonly total: number;
    readonly version: string | null;
  }[];
}

export function workersOf(machines: readonly MachineObject[], pools: readonly MachinePoolObject[] = []): Workers {
  const counted = new Set(machines.map(({ metadata }) => metadata.labels?.[poolLabel]));
  const byVersion = Map.groupBy(
    machines,
    ({ spec, status }) => status?.nodeInfo?.kubeletVersion ?? spec?.version ?? 'unknown version',
  );
  return {
    total: machines.length,
    notReady: machines.filter((machine) => !isReady(machine)).map(({ metadata }) => metadata.name),
    versions: [...byVersion]
      .map(([version, { length: count }]) => ({ version, count }))
      .sort((one, other) => (one.version < other.version ? -1 : 1)),
    pools: pools
      .filter(({ metadata }) => !counted.has(metadata.name))
      .map(({ metadata: { name }, spec, status }) => ({
        name,
        ready: status?.readyReplicas ?? 0,
        total: status?.replicas ?? spec?.replicas ?? 0,
        version: spec?.template?.spec?.version ?? null,
      })),
  };
}

function isReady({ status }: MachineObject): boolean {
  return status?.conditions?.find(({ type }) => type === 'NodeReady')?.status === 'True';
}

/** Names in a line: more of them would fill it. */
const mostNames = 3;

/** `3 Machines with v1.37.1, 1 not ready: md-0-x; MachinePool mp-0 with v1.37.1, 2 of 3 ready`. */
export function describeWorkers(workers: Workers): string {
  const pools = workers.pools.map(({ name, ready, total, version }) => {
    const running = version === null ? '' : ` with ${version}`;
    return `MachinePool ${name}${running}, ${ready} of ${total} ready`;
  });
  const machines = workers.total === 0 ? [] : [describeMachines(workers)];
  return [...machines, ...pools].join('; ') || 'no Machines; Nodes that joined without one are not counted';
}

function describeMachines({ total, notReady, versions }: Workers): string {
  const [first] = versions;
  const running =
    first && versions.length === 1
      ? `with ${first.version}`
      : `(${versions.map(({ version, count }) => `${count} with ${version}`).join(', ')})`;
  const further = notReady.length - mostNames;
  const names = [...notReady.slice(0, mostNames), ...(further > 0 ? [`${further} more`] : [])].join(', ');
  const late = notReady.length > 0 ? `, ${notReady.length} not ready: ${names}` : '';
  return `${total} Machine${total === 1 ? '' : 's'} ${running}${late}`;
}
