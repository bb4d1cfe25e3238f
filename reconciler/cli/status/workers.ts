import type { MachineObject } from '../../../imports/cluster-api.ts';

/** The Machines of a Cluster: workers that joined without one are not among them. */
export interface Workers {
  readonly total: number;
  /** Names of those whose Node is not ready, or that have none yet. */
  readonly notReady: readonly string[];
  /** Versions that their kubelets run, or shall run, each with how many. */
  readonly versions: readonly { readonly version: string; readonly count: number }[];
}

export function workersOf(machines: readonly MachineObject[]): Workers {
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
  };
}

function isReady({ status }: MachineObject): boolean {
  return status?.conditions?.find(({ type }) => type === 'NodeReady')?.status === 'True';
}

/** Names in a line: more of them would fill it. */
const mostNames = 3;

/** `3 Machines with v1.37.1, 1 not ready: md-0-x`. */
export function describeWorkers({ total, notReady, versions }: Workers): string {
  if (total === 0) return 'no Machines';
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
