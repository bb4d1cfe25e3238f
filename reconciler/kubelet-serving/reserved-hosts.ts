import { BlockList, isIP } from 'node:net';
import { canonicalHost } from '../../constructs/cluster/canonical-host.ts';
import { planCertificates } from '../../constructs/control-plane/certificates/plan.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import type { FactsWith } from '../../constructs/cluster/facts.ts';

/** Whether a name or an address is one that no kubelet can have, whatever its Node says. */
export type IsReserved = (host: string) => boolean;

/**
 * What no kubelet may serve as: its certificate is signed by the authority that all clients of the API server trust, and
 * what a Node says of its addresses, its kubelet has written itself.
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

/** To whoever verifies a certificate they are IPv4 addresses, and no list of ours has them in this form. */
const mappedPrefix = '::ffff:';
/** Neither a pattern, nor a name that ends in a dot, which some take for the same name without it. */
const plainName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

function networksOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix = ''] = cidr.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
