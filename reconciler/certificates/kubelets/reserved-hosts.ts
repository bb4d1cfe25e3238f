import { BlockList, isIP } from 'node:net';
import { canonicalHost } from '../../../constructs/cluster/canonical-host.ts';
import { planCertificates } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import type { FactsWith } from '../../../constructs/cluster/facts.ts';

/** Whether a name or an address is reserved: no kubelet may have it, regardless of its Node. */
export type IsReserved = (host: string) => boolean;

/**
 * Names and addresses that no kubelet may serve as. The CA that all clients of the API server trust signs its
 * certificate, and the kubelet itself reports the addresses of its Node.
 */
export function reservedHosts(
  cluster: HostedCluster,
  facts: FactsWith<'endpoint' | 'konnectivityEndpoint'>,
): IsReserved {
  const plans = planCertificates(cluster, facts.endpoint, facts.konnectivityEndpoint, facts.tunnelEndpoint);
  const served = new Set(plans.flatMap(({ hosts }) => hosts).map(canonicalHost));
  const networks = networksOf([...cluster.network.services, '127.0.0.0/8', '::1/128', '169.254.0.0/16', 'fe80::/10']);
  const serviceDomains = ['.svc', `.svc.${cluster.network.serviceDomain.toLowerCase()}`];
  return (host) => {
    const family = isIP(host);
    if (served.has(host)) return true;
    if (family === 4) return networks.check(host);
    if (family === 6) return host.startsWith(mappedPrefix) || networks.check(host, 'ipv6');
    return !plainName.test(host) || serviceDomains.some((domain) => host.endsWith(domain));
  };
}

/** Clients treat such an address as IPv4, and the lists here do not contain that form. */
const mappedPrefix = '::ffff:';
/** Excludes patterns, and names with a trailing dot, which some clients treat like the name without it. */
const plainName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

function networksOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix = ''] = cidr.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
