import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { DaemonSet, Pod } from '../../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { defaultsFor } from '../../../constructs/cluster/versions.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { type HostedControlPlaneObject, kubernetesVersion, type Workbench } from '../../support/workbench.ts';

interface PodSpec {
  readonly containers: readonly { readonly image?: string }[];
}

/** A control plane on its way to the newest version of Kubernetes. */
export interface Upgraded {
  readonly bench: Workbench;
  readonly cluster: string;
  /** A client of the hosted cluster, opened when no old API server is left: connections to one that stops may hang. */
  readonly hosted: () => Promise<KubeClient>;
}

/** When each step of an upgrade is over, in their order. */
export const stepEnds: Readonly<Record<string, (upgraded: Upgraded) => Promise<boolean>>> = {
  checks: async (upgraded) => (await read(upgraded)).status?.preflight?.version === kubernetesVersion,
  'API servers': async (upgraded) => (await read(upgraded)).status?.version === kubernetesVersion,
  'controller manager': runs('controller-manager', 'ControllerManagerReady'),
  scheduler: runs('scheduler', 'SchedulerReady'),
  'kube-proxy, CoreDNS, konnectivity agents': async (upgraded) => {
    const name = { namespace: 'kube-system', name: 'kube-proxy' };
    type KubeProxy = KubeObject & { readonly spec: { readonly template: { readonly spec: PodSpec } } };
    const client = await upgraded.hosted();
    const { spec } = await client.get<KubeProxy>(DaemonSet, name);
    if (!isNewest(spec.template.spec)) return false;
    return isTrue(await read(upgraded), 'WorkloadKubeProxyReady', 'WorkloadCoreDNSReady', 'WorkloadKonnectivityReady');
  },
  etcd: async (upgraded) => {
    const members = (await read(upgraded)).status?.etcd?.members;
    return members?.every(({ version }) => version === defaultsFor(kubernetesVersion).etcd) ?? false;
  },
};

/** Whether each pod of a component has the new version, and the component is ready. */
function runs(component: ComponentName, condition: ConditionType): (upgraded: Upgraded) => Promise<boolean> {
  return async (upgraded) => {
    const { bench, cluster } = upgraded;
    const labels = Object.entries(selectorLabels(cluster, component)).map(([label, value]) => `${label}=${value}`);
    const selection = { namespace: bench.namespace, labelSelector: labels.join() };
    const { items } = await bench.client.list<KubeObject & { readonly spec: PodSpec }>(Pod, selection);
    return items.every(({ spec }) => isNewest(spec)) && isTrue(await read(upgraded), condition);
  };
}

function read({ bench, cluster }: Upgraded): Promise<HostedControlPlaneObject> {
  return bench.get(cluster);
}

function isNewest({ containers }: PodSpec): boolean {
  return containers.some(({ image }) => image?.endsWith(`:${kubernetesVersion}`));
}

function isTrue({ status }: HostedControlPlaneObject, ...types: readonly ConditionType[]): boolean {
  return types.every((wanted) => status?.conditions?.some(({ type, status: is }) => type === wanted && is === 'True'));
}
