import type { DeploymentObject, StatefulSetObject } from '../../../imports/kubernetes.ts';
import type { ComponentStatus } from '../../../constructs/api/component-status.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { etcdMemberHost } from '../../../constructs/cluster/names.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import { parseVersion, tagOf } from '../../../constructs/cluster/versions.ts';
import { apiServiceHost } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { deploymentReadiness, type Readiness, statefulSetReadiness } from '../../kube/readiness.ts';

/** The workloads of a control plane, and the versions that are known of them. */
export interface Workloads {
  readonly cluster: string;
  readonly namespace: string;
  readonly apiServer: DeploymentObject | undefined;
  readonly controllerManager: DeploymentObject | undefined;
  readonly scheduler: DeploymentObject | undefined;
  readonly etcd: StatefulSetObject | undefined;
}

interface Versions {
  /** Oldest version of the API servers. */
  readonly apiServer: string | undefined;
  /** Versions of the members of etcd. */
  readonly etcd: readonly string[];
}

/** The components in the order in which they start. */
export function componentsOf(workloads: Workloads, versions: Versions): ComponentStatus[] {
  const { apiServer, cluster, controllerManager, etcd, namespace, scheduler } = workloads;
  const place = { name: cluster, namespace };
  const members = Array.from({ length: etcd?.spec?.replicas ?? 0 }, (_, ordinal) => etcdMemberHost(place, ordinal));
  return [
    component('etcd', etcd, statefulSetReadiness(etcd), {
      version: oldest(versions.etcd),
      addresses: members.map((hostname) => ({ hostname, port: ports.etcdClient })),
    }),
    component('api-server', apiServer, deploymentReadiness(apiServer), {
      version: versions.apiServer,
      addresses: [{ hostname: apiServiceHost(place), port: ports.api }],
    }),
    controller('controller-manager', controllerManager),
    controller('scheduler', scheduler),
  ];
}

function controller(name: ComponentStatus['name'], deployment: DeploymentObject | undefined): ComponentStatus {
  const readiness = deploymentReadiness(deployment);
  const image = deployment?.spec?.template?.spec?.containers?.[0]?.image;
  return component(name, deployment, readiness, { version: readiness.ready ? tagOf(image) : undefined });
}

function component(
  name: ComponentStatus['name'],
  workload: DeploymentObject | StatefulSetObject | undefined,
  readiness: Readiness,
  known: { readonly version: string | undefined; readonly addresses?: ComponentStatus['addresses'] },
): ComponentStatus {
  const { replicas = 0, readyReplicas = 0 } = workload?.status ?? {};
  const isReady = readiness.ready && readyReplicas > 0;
  const message = readiness.ready ? (isReady ? undefined : 'no pod is ready') : readiness.message;
  const addresses = workload === undefined ? undefined : known.addresses;
  return {
    name,
    ready: isReady,
    replicas,
    readyReplicas,
    ...definedOnly({ version: known.version, addresses, message }),
  };
}

/** The oldest of versions such as `3.6.8`. */
function oldest(versions: readonly string[]): string | undefined {
  const known = versions.flatMap((version) => {
    const parsed = parseVersion(version);
    return parsed ? [{ version, parsed }] : [];
  });
  return known.sort((one, other) => one.parsed.compare(other.parsed))[0]?.version;
}
