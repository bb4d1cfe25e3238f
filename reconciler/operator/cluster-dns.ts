import type { ServiceObject } from '../../imports/kubernetes.ts';
import { isIP } from 'node:net';
import type { ClusterDns } from '../../constructs/cluster/facts.ts';
import { networkOfAddress } from '../../constructs/cluster/cidr.ts';
import { Service } from '../../constructs/api/resources.ts';
import type { KubernetesApi } from '../kube/client.ts';
import { isForbidden } from '../kube/errors.ts';

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
