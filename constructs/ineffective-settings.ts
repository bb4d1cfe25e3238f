import { adoptRevisionAnnotation } from './api/group.ts';
import { nodeTopology } from './api/overlay-spec.ts';
import { refusesAnonymous } from './control-plane/api-server/authentication.ts';
import { apiServerFlags } from './control-plane/api-server/flags.ts';
import { fanOutFlags } from './control-plane/api-server/audit/fan-out.ts';
import type { HostedCluster } from './cluster/cluster.ts';
import { controllerManagerFlags } from './control-plane/controllers/controller-manager.ts';
import { allocatesNodeNetworks, nodeNetworkFlags } from './control-plane/controllers/node-networks.ts';
import { reservedEtcdSettings } from './control-plane/etcd/settings.ts';
import type { Facts } from './cluster/facts.ts';
import { newestRevision, rendersWith } from './cluster/release-revisions.ts';
import { overruledFlags } from './pod/flags.ts';
import { konnectivityServerFlags } from './control-plane/api-server/konnectivity-server.ts';
import { schedulerFlags } from './control-plane/controllers/scheduler.ts';
import { corednsFlags } from './workload/coredns.ts';
import { konnectivityAgentFlags } from './workload/konnectivity-agent.ts';
import { kubeProxyFlags } from './workload/kube-proxy.ts';

/** Arguments of the user that have no effect, because those of the operator take precedence. */
export interface OverruledArguments {
  readonly component: string;
  /** Names of flags, or `name=entry` for entries of lists. */
  readonly flags: readonly string[];
}

/** What of the spec has no effect, because the control plane depends on another value, and what to do: sentences. */
export function overruledSettings(cluster: HostedCluster, facts: Pick<Facts, 'advertiseAddress'>): string[] {
  const { topologySpreadConstraints = [] } = cluster.spec.deployment.defaults ?? {};
  return [
    ...overruledArguments(cluster, facts).map(overruledMessage),
    ...(topologySpreadConstraints.some(({ topologyKey }) => topologyKey === nodeTopology)
      ? [
          `etcd: its members run on different nodes, whatever the constraint with topologyKey ${nodeTopology} in deployment.defaults says: move it to the components that it is for`,
        ]
      : []),
    ...beforeRevision(cluster),
    ...(cluster.refusals ?? []).map(({ field, because }) => `${field}: ${because}`),
  ];
}

/** Settings with which a control plane does not work by the release revision that it has. */
function beforeRevision(cluster: HostedCluster): string[] {
  const { release } = cluster;
  if (release === undefined || rendersWith(cluster, 'sizesNodeNetworks')) return [];
  const adopt = `adopt release revision ${newestRevision} with the annotation ${adoptRevisionAnnotation}: "${newestRevision}"`;
  const given = (name: string) => cluster.spec.deployment.controllerManager.args?.[name] !== undefined;
  const sizes = nodeNetworkFlags({ ...cluster, release: undefined }).filter(
    ([name]) => name !== allocatesNodeNetworks && !given(name),
  );
  return [
    ...(refusesAnonymous(cluster)
      ? [`kube-apiserver: with anonymous-auth false its probes get no answer: remove it from args, or ${adopt}`]
      : []),
    ...sizes.map(
      ([name, value]) =>
        `kube-controller-manager: the network of pods, ${cluster.network.pods.join(', ')}, does not fit the size of a node's network: set ${name} in args, for example to ${value}, or ${adopt}`,
    ),
  ];
}

/** What is overruled and what to do, as a sentence for an event or a condition. */
export function overruledMessage({ component, flags }: OverruledArguments): string {
  return `${component}: args cannot set ${flags.join(', ')}, because the control plane depends on the value of the operator: remove it from args`;
}

/** The user's arguments that are overruled, by component; components without any are omitted. */
export function overruledArguments(
  cluster: HostedCluster,
  facts: Pick<Facts, 'advertiseAddress'> = {},
): OverruledArguments[] {
  const { deployment, etcd, kubeProxy, coredns, konnectivityClient } = cluster.spec;
  // A flag that depends on the endpoint is overruled for every endpoint, so any value serves.
  const unknown = { host: '', port: 0 };
  const apiServer = apiServerFlags(cluster, unknown, facts);
  const { args, konnectivity, audit } = deployment.apiServer;
  const found: readonly (readonly [component: string, flags: readonly string[]])[] = [
    ['kube-apiserver', overruledFlags(apiServer, args)],
    ['konnectivity-server', overruledFlags(konnectivityServerFlags, konnectivity?.args)],
    ['audit-webhook', overruledFlags(fanOutFlags, audit?.webhook?.args)],
    ['kube-controller-manager', overruledFlags(controllerManagerFlags(cluster), deployment.controllerManager.args)],
    ['kube-scheduler', overruledFlags(schedulerFlags, deployment.scheduler.args)],
    ['kube-proxy', overruledFlags(kubeProxyFlags(cluster), kubeProxy.args)],
    ['coredns', overruledFlags(corednsFlags, coredns.args)],
    ['konnectivity-agent', overruledFlags(konnectivityAgentFlags(unknown, unknown.host), konnectivityClient.args)],
    ['etcd', reservedEtcdSettings.filter((name) => etcd.args?.[name] !== undefined)],
  ];
  return found.flatMap(([component, flags]) => (flags.length > 0 ? [{ component, flags }] : []));
}
