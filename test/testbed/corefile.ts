import { clustersDomain, gatewayAddress } from './gateway-address.ts';
import type { Instance } from './instance.ts';

/** The port at which CoreDNS answers machines: for names of hosted clusters, and refuses all others at once. */
export const machinesDnsPort = 5300;

/**
 * What the management cluster's DNS answers. Nothing is asked of the host's resolver, so that an unknown name fails in
 * no time. Short lives of answers: a test that makes a Service looks it up at once.
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

/** Names of hosted clusters have an IPv4 address and nothing else, which is another answer than that there is no such name. */
function clusterHosts(instance: Instance): string {
  return `template IN A ${clustersDomain} {
    answer "{{ .Name }} 5 IN A ${gatewayAddress(instance)}"
  }
  template IN ANY ${clustersDomain} {
    rcode NOERROR
  }`;
}
