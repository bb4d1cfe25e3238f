import type { ConditionType } from '../../../constructs/api/conditions.ts';
import type { HostedControlPlane } from '../../../constructs/api/hosted-control-plane.ts';
import { minorOf } from '../../../constructs/cluster/versions.ts';

/** What an upgrade of Kubernetes changes after the API servers, and before etcd. */
const componentsAfterAPIServers: readonly ConditionType[] = [
  'ControllerManagerReady',
  'SchedulerReady',
  'WorkloadKubeProxyReady',
  'WorkloadCoreDNSReady',
  'WorkloadKonnectivityReady',
];

/**
 * Why etcd keeps its version while Kubernetes gets a new minor version, as a sentence; undefined when nothing of Kubernetes is
 * left to do. etcd has no way back from a new minor but a restore, so it is last: until then the old binaries still work.
 * A version of etcd that the spec names does not wait.
 * @param change of etcd, such as `3.6.8 to 3.7.0`
 */
export function awaitedKubernetes(
  change: string,
  { spec, status }: Pick<HostedControlPlane, 'spec' | 'status'>,
): string | undefined {
  if (spec.etcd.version !== undefined || spec.etcd.image?.tag !== undefined) return undefined;
  const left = unfinished({ spec, status });
  if (left === undefined) return undefined;
  return `the change of etcd ${change} is the last step of an upgrade of Kubernetes, because only a restore takes it back: it waits for ${left}`;
}

function unfinished({ spec, status }: Pick<HostedControlPlane, 'spec' | 'status'>): string | undefined {
  const { version, conditions = [] } = status ?? {};
  if (version === undefined || minorOf(version) !== minorOf(spec.version)) return `API servers ${spec.version}`;
  const waiting = componentsAfterAPIServers.filter((type) =>
    conditions.some((condition) => condition.type === type && condition.status !== 'True'),
  );
  return waiting.length > 0 ? `the condition ${waiting.join(', ')}` : undefined;
}
