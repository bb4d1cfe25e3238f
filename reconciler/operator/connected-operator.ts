import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { PodObject, ServiceObject } from '../../imports/kubernetes.ts';
import { Pod, Service } from '../../constructs/api/resources.ts';
import { networkOfAddress } from '../../constructs/cluster/cidr.ts';
import type { ClusterDns } from '../../constructs/cluster/facts.ts';
import type { ManagementIssuer } from '../../constructs/cluster/management-issuer.ts';
import type { Logger } from '../engine/log.ts';
import { backOff } from '../kube/back-off.ts';
import { KubeClient, type KubernetesApi } from '../kube/client.ts';
import { type Clock, pause, systemClock } from '../kube/clock.ts';
import { connect, loadKubeConfig } from '../kube/config.ts';
import { messageOf } from '../kube/error-message.ts';
import { isForbidden, isTooMany, isUnreachable } from '../kube/errors.ts';
import type { Config } from './config.ts';
import { Operator, type OperatorOptions } from './operator.ts';

/** An operator with a connection to a management API server that answers, and what its own pod shows. */
export async function connectedOperator(
  given: Config,
  options: Pick<OperatorOptions, 'reach' | 'quarantine' | 'heap' | 'log' | 'onLeadershipLost' | 'onReconciled'>,
): Promise<Operator> {
  const connection = await connect(loadKubeConfig());
  const client = new KubeClient(connection);
  await untilAnswering(client, systemClock, options.log);
  const config = { ...given, operatorImage: given.operatorImage ?? (await ownImage(client, given)) };
  return new Operator({
    ...options,
    connection,
    config,
    // Kubernetes gives each pod the DNS of its cluster.
    dns:
      config.podName === undefined ? undefined : await clusterDns(client, await readFile('/etc/resolv.conf', 'utf8')),
    managementIssuer: config.managementIssuer && (await withCertificates(config.managementIssuer)),
    clock: systemClock,
  });
}

const delays = { firstMs: 250, longestMs: 5_000 };

/**
 * Resolves when the API server answers anything. A process that ended instead would be started again by the kubelet after pauses of up to
 * five minutes, in which the API server may have returned.
 */
export async function untilAnswering(
  client: Pick<KubernetesApi, 'raw'>,
  clock: Clock,
  log: Pick<Logger, 'warn' | 'info'>,
): Promise<void> {
  for (let failures = 0; ; failures++) {
    try {
      await client.raw('/version', { deadlineMs: 10_000 });
    } catch (error) {
      // One that starts refuses some requests by their number.
      if (isUnreachable(error) || isTooMany(error)) {
        if (failures === 0) log.warn({ message: messageOf(error) }, 'waiting for the management API server');
        await pause(clock, backOff(delays, failures + 1), new AbortController().signal);
        continue;
      }
    }
    if (failures > 0) log.info({}, 'the management API server answers');
    return;
  }
}

/**
 * The image of this process, as its installation names it. Pods that restore backups run it too. Undefined outside a
 * cluster.
 */
async function ownImage(
  client: Pick<KubernetesApi, 'get'>,
  { controllerNamespace: namespace, podName: name }: Config,
): Promise<string | undefined> {
  if (namespace === undefined || name === undefined) return undefined;
  const { spec } = await client.get<PodObject>(Pod, { namespace, name });
  return spec?.containers?.[0]?.image;
}

/**
 * Where the DNS of the management cluster answers, from the resolver configuration that this pod got like every other
 * one: the pods of the Service with the address of a name server, or the address itself if no Service has it, as with a
 * cache on the node. Undefined without a name server, and without the right to list the Services of all namespaces.
 */
export async function clusterDns(
  client: Pick<KubernetesApi, 'list'>,
  resolverConfiguration: string,
): Promise<ClusterDns | undefined> {
  const servers = nameServersIn(resolverConfiguration);
  if (servers.length === 0) return undefined;
  const services = await Promise.all(
    servers.map((server) => client.list<ServiceObject>(Service, { fieldSelector: `spec.clusterIP=${server}` })),
  ).catch(unlessForbidden);
  if (!services) return undefined;
  return {
    pods: services.flatMap(({ items }) => items.flatMap(podsOf)),
    networks: servers.filter((_, index) => services[index]?.items.length === 0).map(networkOfAddress),
  };
}

function unlessForbidden(error: unknown): undefined {
  if (!isForbidden(error)) throw error;
}

/** Addresses of the name servers in a resolv.conf; a zone such as `%eth0` is not part of the address. */
export function nameServersIn(resolverConfiguration: string): string[] {
  const named = [...resolverConfiguration.matchAll(/^\s*nameserver\s+([^\s%]+)/gm)].map(([, server = '']) => server);
  return [...new Set(named)].filter((server) => isIP(server) !== 0);
}

function podsOf({ metadata, spec }: ServiceObject): ClusterDns['pods'] {
  const { namespace = '' } = metadata;
  const { selector, ports = [] } = spec ?? {};
  if (!selector) return [];
  const listened = ports
    .filter(({ port }) => port === 53)
    .map(({ protocol, targetPort = 53 }) => ({
      number: targetPort,
      protocol: protocol === 'UDP' ? ('UDP' as const) : ('TCP' as const),
    }));
  return [{ namespace, labels: selector, ports: listened }];
}

/** @throws if the file cannot be read */
async function withCertificates({ url, caFile }: NonNullable<Config['managementIssuer']>): Promise<ManagementIssuer> {
  return { url, certificateAuthority: caFile === undefined ? undefined : await readFile(caFile, 'utf8') };
}
