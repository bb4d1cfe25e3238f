import type { SecretObject, ServiceObject } from '../../../imports/kubernetes.ts';
import { type Resource, Secret, Service } from '../../../constructs/api/resources.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { inClusterAccessOf } from '../../../constructs/cluster/in-cluster-access.ts';
import { exposureStrategy } from '../../../constructs/control-plane/exposure/exposure.ts';
import type { Endpoint, Facts, FactsWith } from '../../../constructs/cluster/facts.ts';
import type { AppliedKind } from '../../../constructs/workload/applied-kinds.ts';
import { appliedKindsOf } from '../../../constructs/workload/chart.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { issueCertificate, type KeyPair, validFor } from '../../pki/issue.ts';
import { apiServiceHost } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { pairOf } from '../../pki/secret.ts';
import type { Reader } from '../management/view.ts';

/** The addresses and credentials of one hosted API server, and the kinds that the operator applies there. */
export interface HostedTarget {
  /** Address of the API server's Service in the management cluster. */
  readonly service: Endpoint;
  /** Port of an API server's pod. */
  readonly podPort: number;
  /** The name to verify in the serving certificate, independent of the address. */
  readonly serverName: string;
  /** The published endpoint, which workers and Cluster API use. */
  readonly endpoint: Endpoint;
  /** PEM of the cluster CA certificate. */
  readonly ca: string;
  /** The operator's identity in the hosted cluster. */
  readonly controller: KeyPair;
  /**
   * Issues a short-lived administrator certificate, which is only used to grant permissions to the operator and to
   * others.
   */
  readonly admin: (now: Date) => Promise<KeyPair>;
  /** All kinds that the operator may apply there, for any settings. */
  readonly applied: readonly AppliedKind[];
}

/**
 * The target of a hosted cluster, from the cache. It contains the IP address of the Service, so that it works without
 * cluster DNS; the name of the Service is verified.
 * @throws when an object is missing that previous phases have created
 */
export function hostedTarget(cluster: HostedCluster, facts: FactsWith<'endpoint'>, reader: Reader): HostedTarget {
  const names = namesOf(cluster.name);
  const secret = (name: string) => reader.get<SecretObject>(Secret, name);
  const address = reader.get<ServiceObject>(Service, names.apiService)?.spec?.clusterIP;
  const ca = pairOf(secret(names.secrets.clusterCA));
  const controller = pairOf(secret(names.secrets.controller));
  if (!address || !ca || !controller) {
    throw new Error(
      `Service ${names.apiService} or a Secret of cluster ${cluster.name} was deleted during the reconcile`,
    );
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

/**
 * The API server serves beta versions of policies only if a flag enables them, which is the case where they are used.
 */
function isServed({ apiVersion }: Resource, cluster: HostedCluster, facts: Facts): boolean {
  return !apiVersion.endsWith('beta1') || inClusterAccessOf(cluster, facts) === 'Policy';
}

/**
 * Never stored: the cluster CA can issue it at any time, and the operator does so for the few requests that need it.
 */
const administrator = {
  commonName: 'hosted-control-plane-bootstrap',
  organizations: ['system:masters'],
  usages: ['client'],
  hosts: [],
} as const;
const adminLifetimeMs = 10 * 60_000;
