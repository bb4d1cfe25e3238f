import type { PodObject, SecretObject } from '../../../imports/kubernetes.ts';
import { clusterNetworkAnnotation } from '../../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../../constructs/api/hosted-control-plane.ts';
import { NetworkStatus } from '../../../constructs/api/network-status.ts';
import { Pod, Secret } from '../../../constructs/api/resources.ts';
import { type ClusterNetwork, networkOf } from '../../../constructs/cluster/cluster.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { issuerByServiceName } from '../../../constructs/cluster/service-account-issuer.ts';
import { isReady } from '../../kube/readiness.ts';
import type { ClusterObject } from '../management/cluster-object.ts';
import type { Reader } from '../management/view.ts';
import { readCertificate } from '../../pki/certificate.ts';
import { valueOf } from '../../pki/secret.ts';
import { argumentOf } from '../pods/container-arguments.ts';
import { networkInUse } from './network-in-use.ts';

/** What is needed to know the networks of a control plane. */
export interface NetworkSource {
  readonly hostedControlPlane: Pick<HostedControlPlane, 'status'>;
  readonly clusterObject: ClusterObject;
  /** Without it only the status and the Cluster are known, as to a person. */
  readonly reader?: Reader | undefined;
}

/** The networks and the domain by which a control plane is rendered. */
export function observeNetwork({ hostedControlPlane, clusterObject, reader }: NetworkSource): ClusterNetwork {
  const { status } = hostedControlPlane;
  const { name } = clusterObject.metadata;
  const recorded = recordedNetwork(status, reader, name);
  const isInitialized = status?.initialization?.controlPlaneInitialized ?? false;
  return networkInUse({
    asked: networkOf(clusterObject.spec?.clusterNetwork),
    recorded,
    isInitialized,
    running: reader && isInitialized && !recorded ? runningNetwork(reader, name) : {},
  });
}

/**
 * The record: that of the status, which only the operator writes. A move, and a new object on retained volumes, have none; then
 * that beside the service account keys, which go with the data.
 */
export function recordedNetwork(
  status: HostedControlPlane['status'],
  reader: Reader | undefined,
  cluster: string,
): ClusterNetwork | undefined {
  return status?.network ?? (reader && annotatedNetwork(reader, cluster));
}

/** The record beside the service account keys; undefined if there is none, or it was not written by the operator. */
export function annotatedNetwork(reader: Reader, cluster: string): ClusterNetwork | undefined {
  const keys = reader.get(Secret, namesOf(cluster).secrets.serviceAccount);
  const text = keys?.metadata.annotations?.[clusterNetworkAnnotation];
  if (text === undefined) return undefined;
  try {
    return NetworkStatus.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * What the components have been started with. The pod that has been ready for the longest counts: a Cluster that was changed before
 * there were records may have left another pod beside it, which does not start.
 */
function runningNetwork(reader: Reader, cluster: string): Partial<ClusterNetwork> {
  const controllers = oldestReady(reader, cluster, 'controller-manager');
  const apiServer = oldestReady(reader, cluster, 'api-server');
  return definedOnly({
    pods: listed(argumentOf(controllers, 'cluster-cidr')),
    services:
      listed(argumentOf(apiServer, 'service-cluster-ip-range')) ??
      listed(argumentOf(controllers, 'service-cluster-ip-range')),
    serviceDomain: certifiedDomain(reader, cluster),
  });
}

function oldestReady(reader: Reader, cluster: string, component: ComponentName): PodObject | undefined {
  const pods = reader.list<PodObject>(Pod, selectorLabels(cluster, component)).filter(isReady);
  const age = ({ metadata }: PodObject) => metadata.creationTimestamp ?? '';
  return pods.toSorted((one, other) => (age(one) < age(other) ? -1 : 1))[0];
}

function listed(value: string | undefined): string[] | undefined {
  return value ? value.split(',') : undefined;
}

/** The domain for which the API servers have a certificate: no flag names it. */
function certifiedDomain(reader: Reader, cluster: string): string | undefined {
  const certificate = valueOf(reader.get<SecretObject>(Secret, namesOf(cluster).secrets.apiServer), 'tls.crt');
  const prefix = issuerByServiceName({ serviceDomain: '' }).replace('https://', '');
  const host = certificate && readCertificate(certificate).hosts.find((name) => name.startsWith(prefix));
  return host ? host.slice(prefix.length) : undefined;
}
