import { type Resource, Secret, Service } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { inClusterAccessOf } from '../../constructs/cluster/in-cluster-access.ts';
import { exposureStrategy } from '../../constructs/control-plane/exposure/exposure.ts';
import type { Endpoint, Facts, FactsWith } from '../../constructs/cluster/facts.ts';
import type { AppliedKind } from '../../constructs/workload/applied-kinds.ts';
import { appliedKindsOf } from '../../constructs/workload/chart.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { ServiceObject } from '../kube/service-object.ts';
import { issueCertificate, type KeyPair, validFor } from '../pki/issue.ts';
import { apiServiceHost } from '../../constructs/control-plane/certificates/plan.ts';
import { pairOf, type SecretObject } from '../pki/secret.ts';
import type { Reader } from '../management/view.ts';

/** How to reach one hosted API server, from inside and from outside, and what is there to look after. */
export interface HostedTarget {
  /** Address of the API server's Service in the management cluster. */
  readonly service: Endpoint;
  /** Port of an API server's pod. */
  readonly podPort: number;
  /** The name in the serving certificate that is verified whatever address is dialled. */
  readonly serverName: string;
  /** The published endpoint, as workers and Cluster API dial it. */
  readonly endpoint: Endpoint;
  /** PEM of the cluster's authority. */
  readonly ca: string;
  /** Our own identity in the hosted cluster. */
  readonly controller: KeyPair;
  /** Makes an administrator who is valid now and not for long: only to grant our own identity, and others, their rights. */
  readonly admin: (now: Date) => Promise<KeyPair>;
  /** What may be applied there, whatever the settings. */
  readonly applied: readonly AppliedKind[];
}

/**
 * How to reach a hosted cluster, from what the watches know. The Service is dialled by its address, so that it works
 * without cluster DNS too, and its name is verified all the same.
 * @throws when something of it is missing, which the phases before have made sure of.
 */
export function hostedTarget(cluster: HostedCluster, facts: FactsWith<'endpoint'>, reader: Reader): HostedTarget {
  const names = namesOf(cluster.name);
  const secret = (name: string) => reader.get<SecretObject>(Secret, name);
  const address = reader.get<ServiceObject>(Service, names.apiService)?.spec?.clusterIP;
  const ca = pairOf(secret(names.secrets.clusterCA));
  const controller = pairOf(secret(names.secrets.controller));
  if (!address || !ca || !controller) {
    throw new Error(`Service ${names.apiService} or a Secret of cluster ${cluster.name} is gone again`);
  }
  return {
    service: { host: address, port: exposureStrategy(cluster.spec).service.apiPorts.api },
    podPort: exposureStrategy(cluster.spec).securePort,
    serverName: apiServiceHost(cluster),
    endpoint: facts.endpoint,
    ca: ca.certificate,
    controller,
    admin: (now) => issueCertificate(administrator, ca, validFor(adminLifetimeMs, now)),
    applied: appliedKindsOf(cluster.spec.version).filter(({ resource }) => isServed(resource, cluster, facts)),
  };
}

/** Policies in a version that is not final are served only where the API server is told to, which is where they are used. */
function isServed({ apiVersion }: Resource, cluster: HostedCluster, facts: Facts): boolean {
  return !apiVersion.endsWith('beta1') || inClusterAccessOf(cluster, facts) === 'Policy';
}

/** Never stored: whoever holds the cluster's authority can make one, and we do for the few calls that need it. */
const administrator = {
  commonName: 'hosted-control-plane-bootstrap',
  organizations: ['system:masters'],
  usages: ['client'],
  hosts: [],
} as const;
const adminLifetimeMs = 10 * 60_000;
