import { clustersDomain, gatewayAddress } from './gateway-address.ts';
import type { Instance } from './instance.ts';

/** The port at which CoreDNS serves machines: for names of hosted clusters; it refuses all others at once. */
export const machinesDnsPort = 5300;

/**
 * The zones of the management cluster's DNS. It does not forward to the host's resolver, so that an unknown name fails at
 * once. The TTL is short: a test that creates a Service resolves it at once.
 */
export function corefile(instance: Instance): string {
  return `.:53 {
  errors
  health :8080
  ready
  ${clusterHosts(instance)}
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    ttl 5
  }
  cache 5 {
    denial 1000 1
  }
  reload
}
${clustersDomain}:${machinesDnsPort} {
  errors
  ${clusterHosts(instance)}
}
`;
}

/** Names of hosted clusters have only an IPv4 address; a query for another type is not NXDOMAIN. */
function clusterHosts(instance: Instance): string {
  return `template IN A ${clustersDomain} {
    answer "{{ .Name }} 5 IN A ${gatewayAddress(instance)}"
  }
  template IN ANY ${clustersDomain} {
    rcode NOERROR
  }`;
}
