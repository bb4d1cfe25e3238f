import type { PodObject, SecretObject } from '../../../imports/kubernetes.ts';
import { clusterNetworkAnnotation } from '../../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../../constructs/api/hosted-control-plane.ts';
import { NetworkStatus } from '../../../constructs/api/network-status.ts';
import { Pod, Secret } from '../../../constructs/api/resources.ts';
import { addressAt } from '../../../constructs/cluster/cidr.ts';
import { type ClusterNetwork, networkOf } from '../../../constructs/cluster/cluster.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { issuerByServiceName } from '../../../constructs/cluster/service-account-issuer.ts';
import { isReady } from '../../kube/readiness.ts';
import type { ClusterObject } from '../../../imports/cluster-api.ts';
import type { Reader } from './view.ts';
import { readCertificate } from '../../pki/certificate.ts';
import { valueOf } from '../../pki/secret.ts';

/** What shows which networks and which domain a control plane has, and what its Cluster asks for. */
export interface NetworkInput {
  /** What the Cluster says now. */
  readonly asked: ClusterNetwork;
  /** What is recorded; undefined before the first record. */
  readonly recorded: ClusterNetwork | undefined;
  /** Whether workers have been able to join. */
  readonly isInitialized: boolean;
  /** What the components that run have been started with, as far as it is known. */
  readonly running: Partial<ClusterNetwork>;
}

/**
 * The networks and the domain by which a control plane is rendered. Until workers can join, those of the Cluster: a mistake can
 * be corrected. From then on those of the record. Nodes, Services, certificates and running pods have them, and Kubernetes
 * changes none of these afterwards. A control plane that was initialized before there were records keeps what runs.
 */
export function networkInUse({ asked, recorded, isInitialized, running }: NetworkInput): ClusterNetwork {
  if (recorded) return recorded;
  return isInitialized ? { ...asked, ...running } : asked;
}

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
function annotatedNetwork(reader: Reader, cluster: string): ClusterNetwork | undefined {
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

/** The value of an argument `--name=value` of any container of a pod; undefined if none has it. */
export function argumentOf(pod: PodObject | undefined, name: string): string | undefined {
  const prefix = `--${name}=`;
  const args = (pod?.spec?.containers ?? []).flatMap((container) => container.args ?? []);
  return args.findLast((arg) => arg.startsWith(prefix))?.slice(prefix.length);
}

/** The domain for which the API servers have a certificate: no flag names it. */
function certifiedDomain(reader: Reader, cluster: string): string | undefined {
  const certificate = valueOf(reader.get<SecretObject>(Secret, namesOf(cluster).secrets.apiServer), 'tls.crt');
  const prefix = issuerByServiceName({ serviceDomain: '' }).replace('https://', '');
  const host = certificate && readCertificate(certificate).hosts.find((name) => name.startsWith(prefix));
  return host ? host.slice(prefix.length) : undefined;
}

const fields = ['pods', 'services', 'serviceDomain'] as const;

/** Fields of `spec.clusterNetwork` of the Cluster that differ from what is in use, each with both values. */
export function networkDifferences(asked: ClusterNetwork, used: ClusterNetwork): string[] {
  return fields.flatMap((field) => {
    const [wanted, present] = [textOf(asked[field]), textOf(used[field])];
    return canonical(asked[field]) === canonical(used[field]) ? [] : [`${field} is ${wanted} instead of ${present}`];
  });
}

function textOf(value: string | readonly string[]): string {
  return [value].flat().join(', ');
}

/** The same network has the same text, also with bits of a host in it. */
function canonical(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.map(canonicalNetwork).join();
}

function canonicalNetwork(cidr: string): string {
  try {
    return `${addressAt(cidr, 0)}/${Number(cidr.split('/')[1])}`;
  } catch {
    return cidr;
  }
}
